import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { allBelow, buildProgram } from '../../src/cli/program.js';
import { testApi } from '../api/support.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = new Map(
  [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => join('docs', file)),
  ].map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);

/** As GitHub makes anchors of headings. */
function anchorsOf(page: string): Set<string> {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** With code left out: what stands there is no link. */
const prose = (page: string) => page.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');

test('links lead to files and headings that are there', () => {
  const broken: string[] = [];
  for (const [file, page] of pages) {
    for (const [, target] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (target === undefined || /^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const there = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(root, there))) broken.push(`${file}: ${target}`);
      else if (anchor !== undefined && !anchorsOf(pages.get(there) ?? '').has(anchor))
        broken.push(`${file}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});

describe('commands', () => {
  const program = buildProgram(true);
  for (const command of allBelow(program)) if (command.commands.length === 0) command.action(() => {});

  test('in examples for a shell are understood', async () => {
    const wrong: string[] = [];
    let seen = 0;
    for (const [file, page] of pages) {
      for (const [, block] of page.matchAll(/```sh\n([\s\S]*?)```/g)) {
        for (const [, typed] of (block ?? '').replaceAll('\\\n', ' ').matchAll(/^(?:npx )?malote (.+)$/gm)) {
          seen += 1;
          const line = (typed ?? '').replace(/ +#.*$/, '').replace(/ [>&|].*$/, '');
          const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
          await program.parseAsync(words, { from: 'user' }).catch((error: unknown) => {
            wrong.push(`${file}: malote ${line}: ${error instanceof Error ? error.message : String(error)}`);
          });
        }
      }
    }
    assert.ok(seen > 10);
    assert.deepEqual(wrong, []);
  });

  test('and flags that are named in a sentence are there', () => {
    const wrong: string[] = [];
    for (const [file, page] of pages) {
      for (const [, named] of page.replace(/```[\s\S]*?```/g, '').matchAll(/`malote ((?:[^`])+)`/g)) {
        if (!isThere(program, (named ?? '').split(/\s+/))) wrong.push(`${file}: malote ${named}`);
      }
    }
    assert.deepEqual(wrong, []);
  });
});

/** Walks the words of a command down to where they are no names any more; what begins with dashes must be an option of it or of the program. */
function isThere(program: Command, words: readonly string[]): boolean {
  let command: Command = program;
  for (const word of words) {
    const [flag = ''] = word.split('=');
    if (flag.startsWith('--')) {
      if (![...command.options, ...program.options].some(({ long }) => long === flag)) return false;
      continue;
    }
    if (command.commands.length === 0 || /^[<[(…]/.test(word)) continue;
    const found = command.commands.find((one) => one.name() === word);
    if (!found) return false;
    command = found;
  }
  return true;
}

test('routes that are named are there', async () => {
  const api = await testApi();
  const { json } = await api.ask('GET', '/openapi.json', { key: null });
  const bare = (path: string) => path.replace(/\{[^}]*\}|<[^>]*>/g, '{}').replace(/[?#].*$/, '');
  const routes = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${bare(path)}`),
  );
  const wrong: string[] = [];
  let seen = 0;
  for (const [file, page] of pages) {
    // The simulator has an API of its own, and decisions speak of what might have been.
    if (/simulator|decisions/.test(file)) continue;
    for (const [, method, path] of page.matchAll(
      /(?:`|```http\n)(GET|POST|PUT|PATCH|DELETE) (\/v1\S*?|…\S+?)(?=[`\s])/g,
    )) {
      seen += 1;
      const there = path?.startsWith('…')
        ? routes.some((route) => route.startsWith(`${method} `) && fits(route, bare(path.slice(1))))
        : routes.some((route) => same(route, `${method} ${bare(path ?? '')}`));
      if (!there) wrong.push(`${file}: ${method} ${path}`);
    }
  }
  assert.ok(seen > 30);
  assert.deepEqual(wrong, []);
});

/** A placeholder of the route stands for any segment of the page. */
function same(route: string, named: string): boolean {
  const [a, b] = [route.split('/'), named.split('/')];
  return a.length === b.length && a.every((segment, i) => segment === b[i] || segment === '{}');
}

function fits(route: string, ending: string): boolean {
  const named = ending.split('/').filter(Boolean);
  return same(route.split('/').slice(-named.length).join('/'), named.join('/'));
}
