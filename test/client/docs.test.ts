import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const blocks = [...readFileSync(pathOf('../../docs/sdk.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)];

test('the examples of docs/sdk.md are accepted by the compiler', () => {
  const { config } = ts.readConfigFile(pathOf('../../tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, pathOf('../..'));
  assert.ok(blocks.length >= 2);
  const files = new Map(
    blocks.map(([, code], i) => [
      pathOf(`./sdk-example-${i}.ts`),
      (code ?? '').replaceAll("'malote/client'", "'../../src/client/index.js'"),
    ]),
  );
  const host = ts.createCompilerHost(options);
  const [read, exists] = [host.readFile.bind(host), host.fileExists.bind(host)];
  host.readFile = (file) => files.get(file) ?? read(file);
  host.fileExists = (file) => files.has(file) || exists(file);
  const source = host.getSourceFile.bind(host);
  host.getSourceFile = (file, version, ...rest) => {
    const text = files.get(file);
    return text === undefined ? source(file, version, ...rest) : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const faults = [...files.keys()].flatMap((file) => {
    const of = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(of), ...program.getSemanticDiagnostics(of)];
  });
  assert.deepEqual(
    faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
    [],
  );
});
