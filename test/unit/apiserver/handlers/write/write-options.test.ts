import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Reply } from '../../support/index.ts';
import { lease, leases, named, namespaces, nodes, objectIn, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

function warnings({ rawHeaders }: Reply): string[] {
  return rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'warning');
}

describe('dryRun', () => {
  const path = leases('default');
  const revision = async () => JSON.parse((await admin.request('GET', path)).text).metadata.resourceVersion;

  test('answers as if, and keeps nothing and tells no watcher', async () => {
    const kept = await admin.must('POST', path, lease('kept', { finalizers: ['example.com/hold'] }));
    using watch = await admin.watch(`${path}?resourceVersion=${await revision()}`);
    const before = await revision();

    for (const value of ['=All', '=', '', '=All&dryRun=All']) {
      const created = await admin.request('POST', `${path}?dryRun${value}`, { body: lease('ghost') });
      assert.equal(created.code, 201, value);
      assert.match(objectIn(created).metadata.uid ?? '', /-/);
    }
    const generated = await admin.must('POST', `${path}?dryRun=All`, {
      metadata: { generateName: 'g-' },
      spec: {},
    });
    assert.match(generated.metadata.name ?? '', /^g-/);
    const changed = { ...kept, spec: { holderIdentity: 'other' } };
    const updated = await admin.must('PUT', `${path}/kept?dryRun=All`, changed);
    assert.equal(updated.spec?.['holderIdentity'], 'other');
    const freed = { ...kept, metadata: { ...kept.metadata, finalizers: [] } };
    assert.equal((await admin.request('PUT', `${path}/kept?dryRun=All`, { body: freed })).code, 200);
    assert.equal((await admin.request('DELETE', `${path}/kept?dryRun=All`)).code, 202, 'it has a finalizer');
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] };
    assert.equal((await admin.request('DELETE', `${path}/kept`, { body })).code, 202);

    assert.equal(await revision(), before);
    assert.deepEqual(await admin.must('GET', `${path}/kept`), kept);
    await admin.refused('NotFound', 'GET', `${path}/ghost`);
    await admin.must('POST', path, lease('real'));
    assert.deepEqual(await watch.take(1), ['ADDED real'], 'the first that the watcher hears of');
  });

  test('fails where the real write would', async () => {
    await admin.must('POST', path, lease('taken'));
    await admin.refused('AlreadyExists', 'POST', `${path}?dryRun=All`, { body: lease('taken') });
    await admin.refused('Invalid', 'POST', `${path}?dryRun=All`, { body: lease('Not A Name') });
    await admin.refused('NotFound', 'POST', `${leases('missing')}?dryRun=All`, { body: lease('x') });
    await admin.refused('Conflict', 'PUT', `${path}/taken?dryRun=All`, {
      body: lease('taken', { resourceVersion: '1' }),
    });
    await admin.refused('Forbidden', 'DELETE', `${namespaces}/default?dryRun=All`);
    await server.stranger.refused('Forbidden', 'POST', `${path}?dryRun=All`, { body: lease('x') });
  });

  test('is All or nothing', async () => {
    for (const value of ['dryRun=all', 'dryRun=true', 'dryRun=All&dryRun=None']) {
      const { details } = await admin.refused('Invalid', 'POST', `${path}?${value}`, {
        body: lease('never'),
      });
      assert.equal(details?.causes?.[0]?.field, 'dryRun');
      assert.equal(details?.causes?.[0]?.reason, 'FieldValueNotSupported');
    }
    await admin.refused('Invalid', 'DELETE', `${path}/taken?dryRun=1`);
    await admin.refused('Invalid', 'DELETE', `${path}/taken`, { body: { dryRun: ['None'] } });
    await admin.refused('BadRequest', 'DELETE', `${path}/taken`, { body: { dryRun: 'All' } });
    await admin.refused('NotFound', 'GET', `${path}/never`);
  });
});

describe('fieldValidation', () => {
  const path = leases('default');
  const text = (name: string) =>
    `{"metadata":{"name":"${name}","labels":{"a":"1","a":"2"},"odd":1},"spec":{"nonsense":true,"holderIdentity":"h"}}`;
  const complaints = [
    'unknown field "metadata.odd"',
    'unknown field "spec.nonsense"',
    'duplicate field "metadata.labels.a"',
  ];

  test('Warn, which is also the default, warns of each field and drops it', async () => {
    for (const [index, query] of ['', '?fieldValidation=Warn', '?fieldValidation='].entries()) {
      const reply = await admin.request('POST', `${path}${query}`, { body: text(`warned-${index}`) });
      assert.equal(reply.code, 201);
      assert.deepEqual(
        warnings(reply),
        complaints.map((complaint) => `299 - "${complaint.replaceAll('"', '\\"')}"`),
      );
      assert.deepEqual(objectIn(reply).spec, { holderIdentity: 'h' });
      assert.deepEqual(objectIn(reply).metadata.labels, { a: '2' });
    }
  });

  test('Ignore says nothing', async () => {
    const reply = await admin.request('POST', `${path}?fieldValidation=Ignore`, { body: text('ignored') });
    assert.equal(reply.code, 201);
    assert.deepEqual(warnings(reply), []);
  });

  test('Strict refuses with all of them, on update too', async () => {
    await admin.must('POST', path, lease('strict'));
    for (const [method, place] of [
      ['POST', path],
      ['PUT', `${path}/strict`],
    ] as const) {
      const { message } = await admin.refused('BadRequest', method, `${place}?fieldValidation=Strict`, {
        body: text('strict'),
      });
      for (const complaint of complaints) assert.ok(message?.includes(complaint), message);
    }
    const reply = await admin.request('PUT', `${path}/strict?fieldValidation=Strict`, {
      body: await admin.must('GET', `${path}/strict`),
    });
    assert.equal(reply.code, 200);
  });

  test('another value is 422', async () => {
    await admin.refused('Invalid', 'POST', `${path}?fieldValidation=strict`, { body: lease('x') });
  });

  test('warnings stay within what clients bear', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`f${index}${'x'.repeat(900)}`, 1]),
    );
    const reply = await admin.request('POST', nodes, { body: { ...named('many'), ...many } });
    assert.equal(reply.code, 201);
    const told = warnings(reply);
    assert.ok(told.length > 5, `${told.length} warnings`);
    assert.ok(told.join('').length < 8192, `${told.join('').length} characters`);
  });

  test('a warning cannot break out of its header', async () => {
    const body = JSON.stringify({ ...named('escape'), 'x"\r\nset-cookie: a=b\u2028é': 1 });
    const reply = await admin.request('POST', nodes, { body });
    assert.equal(reply.code, 201, reply.text);
    assert.equal(reply.headers['set-cookie'], undefined);
    assert.equal(warnings(reply).length, 1);
    assert.match(warnings(reply)[0] ?? '', /^299 - "[\x20-\x7e]*"$/);
  });
});

describe('what a kind has to say of an object that it accepts', () => {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  const binding = {
    ...named('warned'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', name: 'u', namespace: 'default' }],
  };

  test('is a Warning of the answer, when it is made and when it is changed, and only then', async () => {
    for (const [method, place] of [
      ['PUT', `${path}/warned`],
      ['PUT', `${path}/warned?fieldValidation=Ignore`],
      ['POST', `${path}?dryRun=All`],
    ] as const) {
      const body = method === 'POST' ? { ...binding, metadata: { name: 'dry' } } : binding;
      const reply = await admin.request(method, place, { body });
      assert.ok(reply.code < 300, reply.text);
      assert.equal(warnings(reply).length, 1, `${method} ${place}`);
    }
    const refused = await admin.request('POST', path, { body: binding });
    assert.deepEqual([refused.code, warnings(refused)], [409, []]);
  });
});

describe('fieldManager', () => {
  test('is at most 128 printable characters', async () => {
    const path = leases('default');
    await admin.must('POST', `${path}?fieldManager=${'m'.repeat(128)}`, lease('managed'));
    for (const wrong of ['m'.repeat(129), 'a%00b', 'a%0ab']) {
      await admin.refused('Invalid', 'PUT', `${path}/managed?fieldManager=${wrong}`, {
        body: lease('managed'),
      });
    }
  });
});
