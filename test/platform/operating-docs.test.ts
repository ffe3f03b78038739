import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ALERT_GUIDE } from '../../src/model/alert-guide.js';
import { ALERT_CODES, PHASES } from '../../src/model/words.js';
import { variables } from '../../src/platform/config-variables.js';

const manual = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');

describe('docs/operating.md', () => {
  test('has every variable, with the default and the words of the schema, and no other', () => {
    const rows = Object.entries(variables.shape).map(([name, schema]) => {
      const meta = schema.meta() as { default?: string; what?: string } | undefined;
      return `| \`${name}\` | ${meta?.default} | ${meta?.what} |`;
    });
    const table = manual.slice(manual.indexOf('| Variable |')).split('\n\n')[0] ?? '';
    assert.deepEqual(table.trim().split('\n').slice(2), rows);
  });

  test('explains every phase', () => {
    assert.deepEqual(
      PHASES.filter((phase) => !manual.includes(`\`${phase}\``)),
      [],
    );
  });

  test('has every alert, with the words that the mails have', () => {
    const rows = ALERT_CODES.map((code) => {
      const { means, closes, whatToDo } = ALERT_GUIDE[code];
      return `| \`${code}\` | ${means} | ${closes} | ${whatToDo} |`;
    });
    const table = manual.slice(manual.indexOf('| Alert |')).split('\n\n')[0] ?? '';
    assert.deepEqual(table.trim().split('\n').slice(2), rows);
  });
});
