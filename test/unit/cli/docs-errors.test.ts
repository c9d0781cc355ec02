import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { apiVersionOf, decodeObject, nodeKind, servedKinds, statusReasons } from '../../../src/api/index.ts';
import { exitCodes } from '../../../src/base/index.ts';
import { jsonBody } from '../../support/index.ts';

const root = new URL('../../..', import.meta.url);
const page = await readFile(new URL('docs/errors.md', root), 'utf8');

/** The first cells of every row under a heading whose first header is `first`. */
function rowsOf(heading: string, first: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading));
  assert.ok(section, `there is a section ${heading}`);
  const lines = section.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  assert.ok(start >= 0, `${heading} has a table of ${first}`);
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return lines
    .slice(start + 2, length < 0 ? undefined : start + length)
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| |\|$/g, '').trim()));
}

const unquoted = (cell: string | undefined) => (cell ?? '').replaceAll('`', '');

/** The longest part of a text that stands for itself. */
function fixedPart(text: string): string {
  const parts = text.split(/…|NAMESPACE|POD|CONTAINER\b|NAME|WHY/);
  return parts.sort((a, b) => b.length - a.length)[0]?.trim() ?? '';
}

function agree(listed: string, fixed: string): boolean {
  const start = listed.split(/…|NAME/)[0] ?? '';
  return fixed.startsWith(start) || start.startsWith(fixed);
}

describe('docs/errors.md', () => {
  test('lists exactly the reasons of the API with their codes', () => {
    const listed = rowsOf('The API: Status', 'reason').map(([reason, code]) => [
      unquoted(reason),
      Number(code),
    ]);
    assert.deepEqual(Object.fromEntries(listed), { ...statusReasons });
    assert.equal(listed.length, Object.keys(statusReasons).length, 'each once');
  });

  test('lists exactly the exit codes', () => {
    const listed = rowsOf('The command', 'exit code').map(([code, name]) => [unquoted(name), Number(code)]);
    assert.deepEqual(Object.fromEntries(listed), { ...exitCodes });
    assert.equal(listed.length, Object.keys(exitCodes).length, 'each once');
  });

  test('lists exactly the reasons of a failed checkpoint', async () => {
    const source = await readFile(new URL('src/agent/checkpoint/errors.ts', root), 'utf8');
    const type = /export type CheckpointFailure =([^;]*);/.exec(source)?.[1] ?? '';
    const known = [...type.matchAll(/'(\w+)'/g)].map(([, name]) => name);
    assert.ok(known.length > 5);
    const listed = rowsOf('The agent', 'reason').map(([reason]) => unquoted(reason));
    assert.deepEqual(listed.sort(), known.sort());
  });

  test('lists exactly what the agent answers', async () => {
    const folders = [
      'server',
      'server/access',
      'server/stats',
      'pods/explain',
      'checkpoint',
      'checkpoint/dump',
    ].map((name) => new URL(`src/agent/${name}/`, root));
    const server = (await Promise.all(folders.map(sourcesIn))).flat();
    const checkpoint = await readFile(new URL('src/agent/checkpoint/errors.ts', root), 'utf8');
    const listed = rowsOf('The agent', 'code').map(([code, text]) => [Number(code), unquoted(text)] as const);

    const refusals = /(?:RefusedError\(|sendText\(reply, )([345]\d\d), (['`])(.*?)\2/g;
    const known = server.flatMap((source) => [...source.matchAll(refusals)]);
    assert.ok(known.length > 5);
    for (const [, code, , text = ''] of known) {
      const fixed = text.split('${')[0] ?? '';
      const isListed = listed.some(([number, shown]) => number === Number(code) && agree(shown, fixed));
      assert.ok(isListed, `${code} ${text} is listed`);
    }
    const all = [...server, checkpoint].join('\n');
    for (const [code, text] of listed) {
      assert.ok(all.includes(fixedPart(text)), `${code} ${text} is in the code`);
    }
  });

  test('lists exactly the warnings', () => {
    const body = '{"metadata":{"name":"a","name":"b"},"nonsense":1}';
    const { complaints } = decodeObject(nodeKind, 'v1', jsonBody(body));
    const shapes = complaints.map((complaint) => complaint.replace(/"[^"]*"/, '"PATH"'));
    const listed = rowsOf('The API: warnings', 'warning').map(([warning]) => unquoted(warning));
    assert.deepEqual(listed.sort(), shapes.sort());
  });

  test('lists exactly the warnings that kinds have of their own', () => {
    const container = {
      name: 'a',
      env: [{ name: 'A' }, { name: 'A' }],
      ports: [{ containerPort: 1 }, { containerPort: 1 }],
    };
    const body = JSON.stringify({
      spec: { terminationGracePeriodSeconds: -1, containers: [container] },
      subjects: [{ kind: 'User', name: 'somebody', namespace: 'default' }],
    });
    const given = servedKinds.flatMap((kind) => {
      const { object } = decodeObject(kind, apiVersionOf(kind, 'k8s.io'), jsonBody(body));
      return kind.warnings(object, undefined);
    });
    const patterns = rowsOf('The API: warnings', 'of a kind').map(([shape]) => patternOf(unquoted(shape)));
    for (const warning of new Set(given))
      assert.equal(patterns.filter((pattern) => pattern.test(warning)).length, 1, warning);
    for (const pattern of patterns)
      assert.ok(
        given.some((warning) => pattern.test(warning)),
        `${pattern}`,
      );
  });
});

async function sourcesIn(folder: URL): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
  return await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
}

/** What is listed with `…` for anything, N for a number and "NAME" for a name. */
function patternOf(shape: string): RegExp {
  const literal = shape.replace(/[.[\]]/g, '\\$&');
  return new RegExp(`^${literal.replace(/…/g, '.*').replace(/\bN\b/g, '\\d+').replace('"NAME"', '"[^"]*"')}`);
}
