import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CommanderError } from 'commander';
import { examplesOf, pathOf } from '../../src/cli/examples.js';
import { allBelow, buildProgram } from '../../src/cli/program.js';
import { malote } from './support.js';

/** The words of an example, as a shell hands them over. */
function words(example: string): string[] {
  const typed = example.replace(/^(\w+=\S+ )*malote /, '').replace(/ > \S+$/, '');
  return [...typed.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

describe('examples', () => {
  const program = buildProgram(true);
  const leaves = allBelow(program).filter(({ commands }) => commands.length === 0);
  let ran: string | null = null;
  for (const leaf of leaves) {
    leaf.action(() => {
      ran = pathOf(leaf);
    });
  }

  for (const leaf of leaves) {
    test(`malote ${pathOf(leaf)}`, async () => {
      const examples = examplesOf(leaf);
      assert.ok(examples.length > 0, 'add one in src/cli/examples.ts');
      for (const example of examples) {
        ran = null;
        // Options keep the values of the run before: a program of its own is not needed, since nothing is looked at.
        await program.parseAsync(words(example), { from: 'user' }).catch((error: unknown) => {
          assert.fail(`${example}: ${error instanceof CommanderError ? error.message : String(error)}`);
        });
        assert.equal(ran, pathOf(leaf), example);
      }
    });
  }
});

describe('wrong use', () => {
  for (const [args, said] of [
    [['company', 'lst'], /unknown command 'lst'/],
    [['company', 'list', '--colour'], /unknown option '--colour'/],
    [['company', 'show'], /missing required argument 'company'/],
    [['gaps', 'list', 'x', '--status', 'lost'], /Allowed choices are/],
    [['company'], /no command is named/],
  ] as const) {
    test(`"malote ${args.join(' ')}" is JSON on standard error under --json, a sentence without; exit code 2`, async () => {
      const asJson = await malote([...args, '--json']);
      assert.equal(asJson.code, 2);
      assert.equal(asJson.out, '');
      const lines = asJson.err.trim().split('\n');
      assert.equal(lines.length, 1, asJson.err);
      const { error, ...rest } = JSON.parse(lines[0] ?? '');
      assert.match(error, said);
      assert.deepEqual(rest, { code: 'wrong_use', exitCode: 2 });
      const plain = await malote(args);
      assert.equal(plain.code, 2);
      assert.ok(plain.err.length > 0 && !plain.err.startsWith('{'));
    });
  }

  test('help finds subcommands, and says where there is none', async () => {
    const { code, out } = await malote(['help', 'capture', 'start']);
    assert.equal(code, 0);
    assert.match(out, /Usage: malote capture start/);
    assert.match(out, /Examples:\n {2}\$ malote capture start/);
    assert.match((await malote(['help'])).out, /Usage: malote \[options\] \[command\]/);
    const none = await malote(['help', 'capture', 'strat']);
    assert.deepEqual([none.code, none.out], [2, '']);
    assert.match(none.err, /no command "capture strat"/);
  });
});
