import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { named, nodes, objectIn } from '../../support/index.ts';
import { dataOf, patchLab, warningsOf } from '../patch-request.ts';

const lab = await patchLab();
const { admin, patch, maps, map, assertUntouched } = lab;

describe('the three sorts of a patch', () => {
  test('JSON Patch does step by step what it says', async () => {
    const patched = await patch.must('json', map, [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'replace', path: '/data/a', value: 'one' },
      { op: 'move', from: '/data/b', path: '/data/c' },
      { op: 'add', path: '/metadata/labels/example.com~1owner', value: 'me' },
      { op: 'remove', path: '/metadata/annotations' },
    ]);
    assert.deepEqual(dataOf(patched), { a: 'one', c: '2' });
    assert.deepEqual(patched.metadata.labels, { tier: 'back', 'example.com/owner': 'me' });
    assert.equal(patched.metadata.annotations, undefined);
    assert.equal(patched.metadata.uid, lab.before.metadata.uid);
    assert.notEqual(patched.metadata.resourceVersion, lab.before.metadata.resourceVersion);
    assert.deepEqual(await admin.must('GET', map), patched);
  });

  test('merge patch sets what it names and takes away what it says is null', async () => {
    const patched = await patch.must('merge', map, {
      data: { a: null, c: '3' },
      metadata: { labels: { x: 'y' } },
    });
    assert.deepEqual(dataOf(patched), { b: '2', c: '3' });
    assert.deepEqual(patched.metadata.labels, { tier: 'back', x: 'y' });
  });

  test('strategic merge patch knows which lists are maps', async () => {
    await admin.must('POST', nodes, {
      ...named('tainted'),
      spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
    });
    const taints = [{ key: 'b', effect: 'NoExecute' }];
    const patched = await patch.must('strategic', `${nodes}/tainted`, { spec: { taints } });
    assert.equal(JSON.stringify(patched.spec?.['taints']).includes('"key":"b"'), true);
  });

  test('a patch that changes nothing writes nothing', async () => {
    await patch.must('merge', map, {});
    await patch.must('merge', map, { data: { a: '1' } });
    await patch.must('json', map, []);
    await patch.must('json', map, [{ op: 'replace', path: '/data/a', value: '1' }]);
    await patch.must('strategic', map, { metadata: { labels: { tier: 'back' } } });
    await assertUntouched();
  });

  test('the test of a JSON Patch can ask for what is not there', async () => {
    await patch.must('json', map, [
      { op: 'test', path: '/data/lock', value: null },
      { op: 'add', path: '/data/lock', value: 'mine' },
    ]);
    await patch.refused('Invalid', 'json', map, [
      { op: 'test', path: '/data/lock', value: null },
      { op: 'add', path: '/data/lock', value: 'yours' },
    ]);
    assert.equal(Reflect.get(Object(dataOf(await admin.must('GET', map))), 'lock'), 'mine');
  });

  test('is shown in the form that the client asks for', async () => {
    const headers = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
    const reply = await patch.request('merge', map, { data: { z: '1' } }, headers);
    assert.equal(objectIn(reply).kind, 'PartialObjectMetadata');
  });
});

describe('the body of an apply', () => {
  const path = `${maps}/applied?fieldManager=me`;

  test('is YAML, and so it may be JSON', async () => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata:\n  a: "1" # one\n';
    const made = await patch.request('apply', path, yaml);
    assert.equal(made.code, 201, made.text);
    assert.deepEqual(dataOf(objectIn(made)), { a: '1' });
    for (const same of [
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"1"}}',
      ' \n{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: {a: "1"}}',
    ]) {
      assert.deepEqual(await patch.must('apply', path, same), objectIn(made));
    }
  });

  test('is warned of when a key stands twice, however it is written', async () => {
    for (const body of [
      '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"0","a":"1"}}',
      'apiVersion: v1\nkind: ConfigMap\ndata:\n  a: "0"\n  a: "1"\n',
    ]) {
      const reply = await patch.request('apply', path, body);
      assert.equal(reply.code, 200, reply.text);
      assert.deepEqual(warningsOf(reply), ['299 - "duplicate field \\"data.a\\""']);
    }
  });

  test('that is neither is 400', async () => {
    for (const body of ['{"a"', 'a: [', '- a', '"a"', 'a: b\n---\nc: d\n']) {
      const { message } = await patch.refused('BadRequest', 'apply', path, body);
      assert.ok(message);
    }
  });
});
