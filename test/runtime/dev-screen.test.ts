import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Arrival } from '../../src/runtime/dev-receiver.js';
import { DevScreen } from '../../src/runtime/dev-screen.js';

const COMPANY = { id: 'one', taxId: '98765432000198' };
const arrival = (kind: string, company: Arrival['company'] = COMPANY): Arrival => ({
  action: 'document.received',
  company,
  data: { kind },
});

function shown(arrivals: readonly Arrival[]): string {
  const lines: string[] = [];
  const screen = new DevScreen((line) => lines.push(stripVTControlCharacters(line)));
  for (const one of arrivals) screen.arrived(one);
  screen.tick([]);
  return lines.join('\n');
}

test('many webhooks are counted by kind, kinds without a word of their own too', () => {
  const kinds = ['NFSe', 'CNC', 'NFSe', 'procCTe', 'CNC', 'NFSe', 'procNFe'];
  const line = shown(kinds.map((kind) => arrival(kind)));
  assert.match(line, /7 webhooks.* {2}1 invoice, 1 transport document, 3 service invoices, 2 CNC$/);
});

test('a company that a person added is told by the end of its tax ID; an alert may have none', () => {
  assert.match(shown([arrival('NFSe')]), /service invoice .*for …0198$/);
  assert.match(shown([arrival('procNFe', null)]), /for the installation$/);
});
