import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  bellClock,
  csrs,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  objectIn,
  startServer,
} from '../support/index.ts';

/** How long a read waits for a version. */
const clock = bellClock(3000);
const server = await startServer({ clock });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const path = leases('default');

describe('409', () => {
  test('a name that is taken', async () => {
    await admin.must('POST', path, lease('taken'));
    const { message, details } = await admin.refused('AlreadyExists', 'POST', path, { body: lease('taken') });
    assert.equal(message, 'leases.coordination.k8s.io "taken" already exists');
    assert.deepEqual(details, { name: 'taken', group: 'coordination.k8s.io', kind: 'leases' });
  });

  test('a stale version; none at all wins where the kind allows it', async () => {
    const first = await admin.must('POST', path, lease('stale'));
    const second = await admin.must('PUT', `${path}/stale`, { ...first, spec: { holderIdentity: 'b' } });
    const { message } = await admin.refused('Conflict', 'PUT', `${path}/stale`, { body: first });
    assert.match(message ?? '', /the object has been modified/);
    for (const wrong of ['999999', 'nonsense']) {
      await admin.refused('Conflict', 'PUT', `${path}/stale`, {
        body: lease('stale', { resourceVersion: wrong }),
      });
    }
    assert.equal(
      (await admin.must('GET', `${path}/stale`)).metadata.resourceVersion,
      second.metadata.resourceVersion,
    );
    await admin.refused('Invalid', 'PUT', `${path}/stale`, { body: lease('stale') });
    await admin.must('POST', nodes, named('stale'));
    await admin.must('PUT', `${nodes}/stale`, named('stale'));
  });

  test('preconditions of a deletion', async () => {
    const { metadata } = await admin.must('POST', path, lease('guarded'));
    const { uid, resourceVersion } = metadata;
    for (const preconditions of [{ uid: 'other' }, { resourceVersion: '1' }, { uid, resourceVersion: '1' }]) {
      await admin.refused('Conflict', 'DELETE', `${path}/guarded`, { body: { preconditions } });
    }
    const reply = await admin.request('DELETE', `${path}/guarded`, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion } },
    });
    assert.equal(reply.code, 200);
  });
});

describe('422 with causes', () => {
  test('every wrong field is named, the first hundred of them', async () => {
    const { details, message } = await admin.refused('Invalid', 'POST', path, {
      body: lease('Bad_Name', { labels: { 'bad key': 'bad value!' }, finalizers: ['nope nope'] }),
    });
    assert.equal(details?.name, 'Bad_Name');
    assert.equal(details?.kind, 'Lease');
    const fields = details?.causes?.map((cause) => cause.field);
    assert.deepEqual(fields, [
      'metadata.name',
      'metadata.labels',
      'metadata.labels',
      'metadata.finalizers[0]',
    ]);
    for (const cause of details?.causes ?? [])
      assert.ok(cause.reason && cause.message, JSON.stringify(cause));
    assert.match(message ?? '', /^Lease\.coordination\.k8s\.io "Bad_Name" is invalid: \[/);

    const labels = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`bad key ${index}`, 'x']));
    const bounded = await admin.refused('Invalid', 'POST', path, { body: lease('Too_Many', { labels }) });
    assert.equal(bounded.details?.causes?.length, 100);
    assert.match(bounded.message ?? '', /and 1 more\]$/);
  });

  test('a required field that is missing', async () => {
    for (const body of [{}, named('a'), { ...named('a'), spec: {} }, { ...named('a'), spec: null }]) {
      const { details } = await admin.refused('Invalid', 'POST', csrs, { body });
      assert.ok(details?.causes?.some(({ reason }) => reason === 'FieldValueRequired'));
    }
    const { details } = await admin.refused('Invalid', 'POST', nodes, { body: {} });
    assert.equal(details?.causes?.[0]?.field, 'metadata.name');
  });
});

describe('400', () => {
  test('bodies that are no object of the kind', async () => {
    const bodies = [
      ...['', ' ', '[]', '"text"', '1', '{', '{"a":}', '{"metadata":[]}', '{"metadata":{"name":1}}'],
      ...['{"kind":"Pod"}', '{"apiVersion":"v2"}', '{"metadata":{"labels":{"a":1}}}', '\u0000', '\ufeff{}{}'],
    ];
    for (const body of bodies) await admin.refused('BadRequest', 'POST', nodes, { body });
    await admin.refused('BadRequest', 'POST', nodes, { body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) });
    await admin.refused('BadRequest', 'POST', nodes);
  });

  test('a name or namespace other than that of the path', async () => {
    await admin.must('POST', path, lease('here'));
    await admin.refused('BadRequest', 'PUT', `${path}/here`, { body: lease('there') });
    await admin.refused('BadRequest', 'PUT', `${path}/here`, { body: { spec: {} } });
    await admin.refused('BadRequest', 'POST', path, { body: lease('x', { namespace: 'kube-system' }) });
  });

  test('but a namespace is taken off what belongs to none', async () => {
    const made = await admin.must('POST', nodes, named('homeless', { namespace: 'default' }));
    assert.equal(made.metadata.namespace, undefined);
  });

  test('wrong options of a deletion', async () => {
    await admin.must('POST', path, lease('options'));
    const bodies = ['x', '[]', '1', '{"kind":"Pod"}', '{"preconditions":1}', '{"preconditions":{"uid":1}}'];
    for (const body of bodies) await admin.refused('BadRequest', 'DELETE', `${path}/options`, { body });
    await admin.must('GET', `${path}/options`);
  });

  test('parameters that cannot be read', async () => {
    const queries = [
      ...['watch=perhaps', 'resourceVersion=abc', 'resourceVersion=-1', 'watch=1&timeoutSeconds=soon'],
      ...[
        'labelSelector=a%20b%20c',
        'labelSelector=(',
        'fieldSelector=nonsense=1',
        'fieldSelector=metadata.name',
      ],
      'watch=1&allowWatchBookmarks=perhaps',
    ];
    for (const query of queries) await admin.refused('BadRequest', 'GET', `${nodes}?${query}`);
  });
});

describe('404 of a namespace, 406, 413, 415', () => {
  test('a namespace that is not there', async () => {
    const { message, details } = await admin.refused('NotFound', 'POST', leases('nowhere'), {
      body: lease('x'),
    });
    assert.equal(message, 'namespaces "nowhere" not found');
    assert.equal(details?.kind, 'namespaces');
    assert.deepEqual(await admin.list(leases('nowhere')), []);
  });

  test('nothing that the client takes, and then nothing is written', async () => {
    for (const accept of ['text/html', 'text/yaml', 'application/json;q=0', 'image/*, text/*']) {
      await admin.refused('NotAcceptable', 'GET', nodes, { headers: { accept } });
      await admin.refused('NotAcceptable', 'POST', nodes, { headers: { accept }, body: named('refused') });
    }
    await admin.refused('NotFound', 'GET', `${nodes}/refused`);
  });

  test('a body that is too large, announced or not', async () => {
    const body = JSON.stringify(named('large', { annotations: { a: 'x'.repeat(4 * 1024 * 1024) } }));
    await admin.refused('RequestEntityTooLarge', 'POST', nodes, { body });
    const fits = JSON.stringify(named('large', { annotations: { a: 'x'.repeat(2 * 1024 * 1024) } }));
    await admin.refused('Invalid', 'POST', nodes, { body: fits });
    const huge = { ...named('large'), status: { images: [{ names: ['x'.repeat(2 * 1024 * 1024)] }] } };
    await admin.refused('RequestEntityTooLarge', 'POST', nodes, { body: huge }); // more than the store takes
  });

  test('a body in another form', async () => {
    const types = ['application/x-yaml', 'text/plain', 'application/vnd.apple.pkpass', ';;;', 'application'];
    for (const type of types) {
      const send = { body: named('typed'), headers: { 'content-type': type } };
      await admin.refused('UnsupportedMediaType', 'POST', nodes, send);
    }
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON']) {
      const send = { body: named(`t-${type.length}`), headers: { 'content-type': type } };
      assert.equal((await admin.request('POST', nodes, send)).code, 201, type);
    }
  });
});

describe('versions', () => {
  test('one that has not come is 504 with the time to try again', async () => {
    const path = `${namespaces}/default?resourceVersion=1000000`;
    const [{ details, reply }] = await Promise.all([
      admin.refused('Timeout', 'GET', path),
      clock.ringForOne(),
    ]);
    assert.equal(details?.causes?.[0]?.reason, 'ResourceVersionTooLarge');
    assert.equal(reply.headers['retry-after'], '1');
  });

  test('misuse of resourceVersionMatch is 422', async () => {
    const queries = [
      'resourceVersionMatch=Exact',
      'resourceVersionMatch=Exact&resourceVersion=0',
      'resourceVersionMatch=Perhaps&resourceVersion=1',
    ];
    for (const query of queries) await admin.refused('Invalid', 'GET', `${nodes}?${query}`);
    await admin.refused('Invalid', 'GET', `${nodes}?watch=1&sendInitialEvents=true`);
  });

  test('a list at an exact version shows what was there then', async () => {
    const made = await admin.must('POST', path, lease('then'));
    await admin.request('DELETE', `${path}/then`);
    const at = made.metadata.resourceVersion;
    const reply = await admin.request('GET', `${path}?resourceVersion=${at}&resourceVersionMatch=Exact`);
    assert.equal(objectIn(reply).metadata.resourceVersion, at);
    assert.match(reply.text, /"name":"then"/);
  });
});
