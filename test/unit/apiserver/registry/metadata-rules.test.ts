import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { configMaps, lease, leases, named, nodes, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const path = configMaps('default');

describe('a name that the server makes', () => {
  test('is the prefix with five more characters; a name that is given wins', async () => {
    const made = await admin.must('POST', path, { metadata: { generateName: 'made-' } });
    assert.match(made.metadata.name ?? '', /^made-[a-z0-9]{5}$/);
    assert.equal(made.metadata.generateName, 'made-');
    const both = await admin.must('POST', path, { metadata: { name: 'given', generateName: 'made-' } });
    assert.equal(both.metadata.name, 'given');
    const { details } = await admin.refused('Invalid', 'POST', path, {
      body: { metadata: { generateName: 'Bad_' } },
    });
    assert.equal(details?.causes?.[0]?.field, 'metadata.generateName');
  });

  test('is told under dry run and belongs to nothing', async () => {
    const before = (await admin.list(path)).length;
    const dry = await admin.must('POST', `${path}?dryRun=All`, { metadata: { generateName: 'dry-' } });
    assert.match(dry.metadata.name ?? '', /^dry-[a-z0-9]{5}$/);
    assert.ok(dry.metadata.uid && dry.metadata.creationTimestamp);
    await admin.refused('NotFound', 'GET', `${path}/${dry.metadata.name}`);
    assert.equal((await admin.list(path)).length, before);
  });
});

describe('finalizers under dry run', () => {
  test('neither hold back, nor let go, nor begin anything', async () => {
    const hold = { finalizers: ['example.com/hold'] };
    await admin.must('POST', path, named('held', hold));
    using watch = await admin.watch(`${path}?fieldSelector=metadata.name=held`);
    assert.deepEqual(await watch.take(1), ['ADDED held']);
    assert.equal((await admin.request('DELETE', `${path}/held?dryRun=All`)).code, 202);
    const alive = await admin.must('GET', `${path}/held`);
    assert.equal(alive.metadata.deletionTimestamp, undefined);

    assert.equal((await admin.request('DELETE', `${path}/held`)).code, 202);
    const dry = await admin.must('PUT', `${path}/held?dryRun=All`, named('held'));
    assert.equal(dry.metadata.finalizers, undefined, 'as it would be');
    assert.deepEqual(
      (await admin.must('GET', `${path}/held`)).metadata.finalizers,
      hold.finalizers,
      'as it is',
    );
    const more = named('held', { finalizers: [...hold.finalizers, 'example.com/late'] });
    await admin.refused('Invalid', 'PUT', `${path}/held?dryRun=All`, { body: more });
    await admin.must('PUT', `${path}/held`, named('held'));
    assert.deepEqual(await watch.take(2), ['MODIFIED held', 'DELETED held']);
    assert.equal(watch.left.length, 0);
  });
});

describe('what a client may not change', () => {
  test('is ignored where the server knows better', async () => {
    const made = await admin.must(
      'POST',
      nodes,
      named('same', { selfLink: '/x', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z' }),
    );
    const { uid, creationTimestamp, selfLink } = made.metadata;
    assert.notEqual(uid, 'mine');
    assert.notEqual(creationTimestamp, '2001-01-01T00:00:00Z');
    assert.equal(selfLink, undefined);
    const sent = named('same', {
      creationTimestamp: '2001-01-01T00:00:00Z',
      selfLink: '/x',
      generation: 12,
      labels: { a: 'b' },
    });
    const next = await admin.must('PUT', `${nodes}/same`, sent);
    assert.deepEqual(next.metadata, {
      ...made.metadata,
      labels: { a: 'b' },
      resourceVersion: next.metadata.resourceVersion,
      ...(next.metadata.managedFields === undefined ? {} : { managedFields: next.metadata.managedFields }),
    });
  });

  test('is a conflict where it means another object', async () => {
    await admin.must('POST', nodes, named('other'));
    const { message } = await admin.refused('Conflict', 'PUT', `${nodes}/other`, {
      body: named('other', { uid: 'x' }),
    });
    assert.match(message ?? '', /Precondition failed: UID in precondition: x, UID in object meta: /);
    await admin.refused('BadRequest', 'PUT', `${nodes}/other`, { body: named('another') });
    await admin.refused('BadRequest', 'PUT', `${path}/other`, {
      body: named('other', { namespace: 'kube-system' }),
    });
  });

  test('is invalid where it would end an object', async () => {
    await admin.must('POST', nodes, named('immortal'));
    const body = named('immortal', {
      deletionTimestamp: '2030-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 1,
    });
    const { details } = await admin.refused('Invalid', 'PUT', `${nodes}/immortal`, { body });
    assert.deepEqual(
      details?.causes?.map(({ field }) => field),
      ['metadata.deletionTimestamp', 'metadata.deletionGracePeriodSeconds'],
    );
  });

  test('owners that cannot be', async () => {
    const owner = { apiVersion: 'v1', kind: 'Event', name: 'a', uid: 'u' };
    const { message } = await admin.refused('Invalid', 'POST', path, {
      body: named('owned', { ownerReferences: [owner] }),
    });
    assert.match(message ?? '', /Kind=Event is disallowed from being an owner/);
  });
});

describe('writing what is not there', () => {
  test('creates leases and events, and nothing else', async () => {
    const made = await admin.request('PUT', `${leases('default')}/new`, { body: lease('new') });
    assert.equal(made.code, 201, made.text);
    await admin.refused('NotFound', 'PUT', `${path}/new`, { body: named('new') });
    await admin.refused('NotFound', 'PUT', `${nodes}/new`, { body: named('new') });
  });

  test('a lease is changed by who knows its version', async () => {
    const made = await admin.must('POST', leases('default'), lease('known'));
    const { details } = await admin.refused('Invalid', 'PUT', `${leases('default')}/known`, {
      body: lease('known'),
    });
    assert.equal(details?.causes?.[0]?.field, 'metadata.resourceVersion');
    await admin.must('PUT', `${leases('default')}/known`, { ...made, spec: { holderIdentity: 'b' } });
    await admin.must('PUT', `${nodes}/same`, named('same'));
  });

  test('a CSINode likewise', async () => {
    const csiNodes = '/apis/storage.k8s.io/v1/csinodes';
    const made = await admin.must('POST', csiNodes, { metadata: { name: 'a' }, spec: {} });
    assert.deepEqual(made.spec, { drivers: [] });
    await admin.refused('Invalid', 'PUT', `${csiNodes}/a`, { body: { metadata: { name: 'a' }, spec: {} } });
    const drivers = [{ name: 'disk.example.com', nodeID: 'a' }];
    const next = await admin.must('PUT', `${csiNodes}/a`, { ...made, spec: { drivers } });
    await admin.refused('Invalid', 'PUT', `${csiNodes}/a`, {
      body: { ...next, spec: { drivers: [{ ...drivers[0], nodeID: 'b' }] } },
    });
  });
});

describe('a Secret', () => {
  test('keeps text as bytes and shows none', async () => {
    const secrets = '/api/v1/namespaces/default/secrets';
    const made: object = await admin.must('POST', secrets, { ...named('s'), stringData: { password: 'ä' } });
    assert.ok('data' in made && 'type' in made);
    assert.deepEqual([made.data, made.type], [{ password: 'w6Q=' }, 'Opaque']);
    assert.ok(!('stringData' in made));
    assert.deepEqual(
      (await admin.list(`${secrets}?fieldSelector=type=Opaque`)).map(({ metadata }) => metadata.name),
      ['s'],
    );
    const { message } = await admin.refused('Invalid', 'PUT', `${secrets}/s`, {
      body: { ...made, type: 'kubernetes.io/tls' },
    });
    assert.match(message ?? '', /type: Invalid value: "<secret contents redacted>": field is immutable/);
    await admin.refused('Invalid', 'POST', secrets, { body: { ...named('t'), type: 'kubernetes.io/tls' } });
  });
});

describe('the generation of an object counts what is wanted', () => {
  const endpoints = [{ addresses: ['10.1.2.3'] }];
  const rows: readonly (readonly [path: string, object: object, change: object])[] = [
    [
      '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
      { spec: { podSelector: {} } },
      { spec: { podSelector: { matchLabels: { app: 'a' } } } },
    ],
    [
      '/apis/networking.k8s.io/v1/ingressclasses',
      { spec: { controller: 'example.com/a' } },
      {
        spec: {
          controller: 'example.com/a',
          parameters: { apiGroup: 'example.com', kind: 'Setup', name: 'a' },
        },
      },
    ],
    [
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
      { addressType: 'IPv4', endpoints: [], ports: [] },
      { endpoints },
    ],
    ['/apis/scheduling.k8s.io/v1/priorityclasses', { value: 5 }, { description: 'five' }],
    [
      '/api/v1/namespaces/default/podtemplates',
      { template: { spec: { containers: [{ name: 'a', image: 'a' }] } } },
      { template: { spec: { containers: [{ name: 'a', image: 'b' }] } } },
    ],
    [
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      { webhooks: [] },
      {
        webhooks: [
          {
            name: 'a.example.com',
            clientConfig: { url: 'https://hook.example.com' },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
    ],
  ];
  for (const [path, object, change] of rows)
    test(path.split('/').at(-1) ?? '', async () => {
      const made = await admin.must('POST', path, { metadata: { name: 'counted' }, ...object });
      assert.equal(made.metadata.generation, 1);
      const labelled = { ...made, metadata: { ...made.metadata, labels: { a: 'b' }, generation: 9 } };
      const same = await admin.must('PUT', `${path}/counted`, labelled);
      assert.equal(same.metadata.generation, 1, 'what is wanted is the same');
      const next = await admin.must('PUT', `${path}/counted`, { ...same, ...change });
      assert.equal(next.metadata.generation, 2);
    });
});
