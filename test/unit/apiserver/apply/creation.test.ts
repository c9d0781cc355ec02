import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { namespaces, objectIn, startServer, statusIn } from '../support/index.ts';
import { managersOf } from './managers.ts';
import { tell } from './story.ts';
import { clusterRole, configMap, node } from './subjects.ts';

await tell('apply where there is nothing', configMap, {
  creates: [
    { by: 'A', applies: 'data: {color: red}', ends: 'created', object: 'data: {color: red}' },
    { by: 'A', deletes: true },
    { by: 'A', applies: 'data: {color: blue}', ends: 'created', object: 'data: {color: blue}' },
  ],
  'creates with force as well': [{ by: 'A', applies: '{}', force: true, ends: 'created' }],
  'does not, for another object that was meant': [
    { by: 'A', applies: 'metadata: {uid: 00000000-0000-0000-0000-000000000001}', ends: 'refused' },
    { by: 'A', applies: 'metadata: {resourceVersion: "1"}', ends: 'refused' },
  ],
  'does not, on a dry run, but answers as if': [
    { by: 'A', applies: 'data: {color: red}', 'dry run': true, ends: 'created' },
    { by: 'A', applies: 'data: {color: red}', ends: 'created' },
  ],
  'does not, where the object would be invalid': [
    { by: 'A', applies: 'data: {"not a key": x}', ends: 'invalid', naming: ['data[not a key]'] },
  ],
  'passes over what is the server’s to give': [
    {
      by: 'A',
      applies: 'metadata: {creationTimestamp: "2001-01-01T00:00:00Z", generation: 7, selfLink: /x}',
      ends: 'created',
      object: 'metadata: {generation: null, selfLink: null}',
      owners: {},
    },
  ],
});

await tell('apply to what is there', configMap, {
  'of another uid is a conflict': [
    { by: 'A', applies: '{}' },
    { by: 'A', applies: 'metadata: {uid: 00000000-0000-0000-0000-000000000001}', ends: 'refused' },
  ],
  'of another version is a conflict': [
    { by: 'A', applies: '{}' },
    {
      by: 'A',
      applies: '{metadata: {resourceVersion: "1"}, data: {color: red}}',
      ends: 'refused',
      naming: ['the object has been modified'],
    },
  ],
  'on a dry run changes nothing, and tells of conflicts': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'A',
      applies: 'data: {color: blue}',
      'dry run': true,
      ends: 'changed',
      object: 'data: {color: red}',
    },
    { by: 'B', applies: 'data: {color: blue}', 'dry run': true, ends: 'refused', naming: ['"A"'] },
    { by: 'B', applies: 'data: {color: blue}', 'dry run': true, force: true, ends: 'changed' },
  ],
  'that is being deleted goes on, and lets it go with its last finalizer': [
    { by: 'A', applies: '{metadata: {finalizers: [example.com/hold]}, data: {color: red}}' },
    { deletes: true },
    {
      by: 'A',
      applies: '{metadata: {finalizers: [example.com/hold]}, data: {color: blue}}',
      ends: 'changed',
      object: 'data: {color: blue}',
    },
    { by: 'A', applies: 'metadata: {finalizers: [example.com/hold, example.com/more]}', ends: 'invalid' },
    { by: 'A', applies: 'data: {color: blue}' },
    { by: 'A', applies: 'data: {color: blue}', ends: 'created' },
  ],
});

await tell('what cannot be changed', configMap, {
  'is refused after all is merged': [
    { by: 'A', applies: '{immutable: true, data: {color: red}}' },
    {
      by: 'A',
      applies: '{immutable: true, data: {color: blue}}',
      ends: 'invalid',
      naming: ['data: Forbidden'],
    },
    { by: 'A', applies: '{immutable: true, data: {color: red}}', ends: 'unchanged' },
    { by: 'A', applies: 'data: {color: red}', ends: 'invalid', naming: ['immutable: Forbidden'] },
  ],
});

await tell('an object of no namespace', clusterRole, {
  'may be said to have one, which is passed over': [
    {
      by: 'A',
      applies: 'metadata: {namespace: default}',
      ends: 'created',
      object: 'metadata: {namespace: null}',
    },
  ],
});

await tell('the number of the desired state', node, {
  'grows when an apply changes it, and only then': [
    { by: 'A', applies: 'spec: {externalID: one}', object: 'metadata: {generation: 1}' },
    { by: 'A', applies: '{}', object: 'metadata: {generation: 2}' },
    { by: 'A', applies: 'metadata: {labels: {a: b}}', object: 'metadata: {generation: 2}' },
  ],
});

describe('who may apply', () => {
  const type = { 'content-type': 'application/apply-patch+yaml' };
  const query = 'fieldManager=A';

  test('somebody who may patch, but not create, can change and not create', async () => {
    await using server = await startServer();
    const stranger = await server.node('n');
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { a: 'b' } } };
    const send = { body, headers: type };
    assert.equal((await stranger.request('PATCH', `${node.path}/n?${query}`, send)).code, 201);
    assert.equal((await stranger.request('PATCH', `${node.path}/n?${query}`, send)).code, 200);
    await stranger.refused('Forbidden', 'PATCH', `${node.path}/other?${query}`, {
      body: { ...body, metadata: { name: 'other' } },
      headers: type,
    });
  });

  test('nobody, in a namespace that is not there or that is going', async () => {
    await using server = await startServer();
    const { admin } = server;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', data: { color: 'red' } };
    const missing = `/api/v1/namespaces/missing/configmaps/x?${query}`;
    await admin.refused('NotFound', 'PATCH', missing, { body, headers: type });
    const finalizers = ['example.com/hold'];
    await admin.must('POST', namespaces, { metadata: { name: 'going' } });
    const held = '/api/v1/namespaces/going/configmaps';
    await admin.must('POST', held, { metadata: { name: 'held', finalizers } });
    await admin.must('DELETE', `${namespaces}/going`);
    const { message = '' } = await admin.refused('Forbidden', 'PATCH', `${held}/x?${query}`, {
      body,
      headers: type,
    });
    assert.match(message, /because it is being terminated/);
    const reply = await admin.request('PATCH', `${held}/held?${query}`, { body, headers: type });
    assert.equal(reply.code, 200, 'what is there can still be changed');
    await admin.request('PATCH', `${held}/held`, {
      body: { metadata: { finalizers: null } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  });
});

describe('many at once', () => {
  const headers = { 'content-type': 'application/apply-patch+yaml' };

  test('who apply to the same name all have their part in it: one creates, the others change', async () => {
    await using server = await startServer();
    const names = Array.from({ length: 12 }, (_, index) => `m${index}`);
    const apply = (name: string, data: object) =>
      server.admin.request('PATCH', `${configMap.path}/shared?fieldManager=${name}`, {
        body: { apiVersion: 'v1', kind: 'ConfigMap', data },
        headers,
      });
    const replies = await Promise.all(names.map((name) => apply(name, { [name]: '1' })));
    const codes = replies.map(({ code }) => code).sort();
    assert.deepEqual(
      codes,
      [...names.slice(1).map(() => 200), 201],
      replies.map(({ text }) => text).join('\n'),
    );
    const shown = await server.admin.must('GET', `${configMap.path}/shared`);
    assert.deepEqual(managersOf(shown), Object.fromEntries(names.map((name) => [name, [`.data.${name}`]])));

    const again = await Promise.all(names.map((name) => apply(name, { [name]: '2' })));
    for (const reply of again) assert.equal(reply.code, 200, reply.text);
    const data = Object.fromEntries(names.map((name) => [name, '2']));
    assert.deepEqual(Reflect.get(await server.admin.must('GET', `${configMap.path}/shared`), 'data'), data);
  });

  test('of whom two want different things: one has its way, the other is told', async () => {
    await using server = await startServer();
    const apply = (name: string) =>
      server.admin.request('PATCH', `${configMap.path}/disputed?fieldManager=${name}`, {
        body: { apiVersion: 'v1', kind: 'ConfigMap', data: { color: name } },
        headers,
      });
    const replies = await Promise.all([apply('red'), apply('blue')]);
    const [won, lost] = replies.sort((a, b) => a.code - b.code);
    assert.ok(won !== undefined && lost !== undefined);
    assert.deepEqual([won.code, lost.code], [201, 409]);
    const winner = objectIn(won).metadata.managedFields?.[0]?.manager;
    assert.ok(statusIn(lost).message?.includes(`conflict with "${winner}"`), lost.text);
  });

  test('a watch hears of a change once, and of what changes nothing never', async () => {
    await using server = await startServer();
    using watch = await server.admin.watch(`${configMap.path}?fieldSelector=metadata.name=watched`);
    const apply = async (data: object) => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', data };
      const path = `${configMap.path}/watched?fieldManager=A`;
      await server.admin.request('PATCH', path, { body, headers });
    };
    for (const color of ['red', 'red', 'blue', 'blue']) await apply({ color });
    await server.admin.must('DELETE', `${configMap.path}/watched`);
    assert.deepEqual(await watch.take(3), ['ADDED watched', 'MODIFIED watched', 'DELETED watched']);
  });
});
