import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import {
  decodeObject,
  encodeObject,
  loadYamlReader,
  servedKinds,
  toTable,
} from '../../../../src/api/index.ts';
import type { ConfigMap } from '../../../../src/api/kinds/core/config-map.ts';
import { configMapKind } from '../../../../src/api/kinds/core/config-map.ts';
import { configMaps, startServer } from '../../apiserver/support/index.ts';

const source = join(import.meta.dirname, '../../../../src');
const itsFile = 'api/kinds/core/config-map.ts';
/** What is about the data in such objects, and so would need no change for another kind. */
const users = [
  'agent/objects/node-objects.ts',
  'api/kinds/index.ts',
  'apiserver/controllers/authentication-config.ts',
  'apiserver/controllers/node-history/service.ts',
  'apiserver/controllers/root-certificates.ts',
  'cli/history.ts',
];
const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

/** Every file below src but generated ones, that names the kind. */
async function mentions(): Promise<string[]> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.endsWith('/gen'))
    .map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const));
  const naming = texts.filter(([, text]) => /configMapKind|config-map/.test(text));
  return naming.map(([file]) => relative(source, file));
}

describe('a kind that is one file', () => {
  test('is named by no other file, and listed by the generated one', async () => {
    assert.deepEqual((await mentions()).sort(), [itsFile, ...users].sort());
    assert.ok(servedKinds.includes(configMapKind));
  });

  test('is decoded strictly, encoded in every encoding and shown as a table', async () => {
    const read = await loadYamlReader();
    const object: ConfigMap = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      data: { key: 'value' },
      binaryData: { bytes: 'AAEC' },
      immutable: false,
    };
    for (const encoding of ['json', 'yaml', 'protobuf'] as const) {
      const bytes = encodeObject(configMapKind, object, encoding);
      const body = encoding === 'yaml' ? { encoding, bytes, read } : { encoding, bytes };
      assert.deepEqual(decodeObject(configMapKind, 'v1', body), { object, complaints: [] }, encoding);
    }
    const unknown = Buffer.from('{"data":{},"dta":{}}');
    const { complaints } = decodeObject(configMapKind, 'v1', { encoding: 'json', bytes: unknown });
    assert.deepEqual(complaints, ['unknown field "dta"']);
    const options = { groupSuffix: 'k8s.io', include: 'None', now: 0, headers: true } as const;
    const table = toTable(configMapKind, [object], {}, options);
    assert.deepEqual(
      table.columnDefinitions?.map(({ name }) => name),
      ['Name', 'Data', 'Age'],
    );
    assert.deepEqual(table.rows[0]?.cells.slice(0, 2), ['a', 2]);
  });

  test('is served: made, read, changed, watched, listed, validated and deleted', async () => {
    const path = configMaps('default');
    using watch = await admin.watch(`${path}?fieldSelector=metadata.name=settings`);
    const made = await admin.must('POST', path, { metadata: { name: 'settings' }, data: { a: '1' } });
    assert.deepEqual(await admin.must('GET', `${path}/settings`), made);
    const next = await admin.must('PUT', `${path}/settings`, { ...made, data: { a: '2' } });
    await admin.refused('Invalid', 'PUT', `${path}/settings`, { body: { ...next, data: { 'b/c': '' } } });
    const all = (await admin.list('/api/v1/configmaps')).map(({ metadata }) => metadata.name);
    assert.deepEqual(
      all.filter((name) => name !== 'kube-root-ca.crt'),
      ['settings', 'extension-apiserver-authentication'],
    );
    await admin.must('DELETE', `${path}/settings`);
    assert.deepEqual(await watch.take(3), ['ADDED settings', 'MODIFIED settings', 'DELETED settings']);
  });

  test('is discovered and documented', async () => {
    const { text } = await admin.request('GET', '/api/v1');
    const { resources } = JSON.parse(text);
    const found = resources.find(({ name }: { name: string }) => name === 'configmaps');
    assert.deepEqual([found?.kind, found?.namespaced, found?.shortNames], ['ConfigMap', true, ['cm']]);
    assert.match((await admin.request('GET', '/openapi/v3/api/v1')).text, /ConfigMap/);
  });
});
