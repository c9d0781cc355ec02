import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ApiTester } from '../../support/index.ts';
import { startServer, statusIn } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin, stranger, nobody } = server;

/** What a target is answered with that no client would send. */
async function codeOf(who: ApiTester, target: string, method = 'GET'): Promise<number> {
  using connection = await who.raw();
  return await connection.exchange(`${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
}

async function messageTo(who: ApiTester, method: string, path: string): Promise<string | undefined> {
  const reply = await who.request(method, path);
  assert.equal(reply.code, 403, `${method} ${path}: ${reply.text}`);
  return statusIn(reply).message;
}

describe('whoever may do nothing is told nothing', () => {
  const refused: Record<string, string[]> = {
    'a semicolon': ['/api/v1/nodes;a=b', '/metrics;a=b'],
    'a space': ['/api/v1/nodes%20', '/api/v1/namespaces/%20/pods/x'],
    'bytes that are no UTF-8': ['/api/v1/nodes/%ff', '/api/v1/%c0%af', '/metrics%ff'],
    'escapes that are none': ['/api/v1/nodes/%zz', '/api/v1/nodes/%'],
    dots: ['/api/v1/namespaces/../nodes', '/api/v1/../../metrics', '/..'],
    'the server’s name': ['https://x/api/v1/foos', 'http://evil.example/nothing', 'https://x/%ff'],
    'a fragment': ['/api/v1/nodes#x', '/metrics#/healthz'],
    'empty parts': ['/api/v1/namespaces//pods', '//api/v1/nodes', '/api/v1/nodes//'],
    'kinds that are not served': [
      '/api/v1/foos',
      '/apis/apps/v1beta1/deployments',
      '/apis/no.example/v2/foos/x',
    ],
    'paths for a node’s agent': ['/api/v1/nodes/a/proxy/../x', '/api/v1/nodes/a:b:c:d/proxy/'],
    'a parameter that is neither true nor false': ['/api/v1/nodes?watch=maybe'],
  };
  for (const [how, targets] of Object.entries(refused)) {
    test(`of a path with ${how}: 401 and 403 come before 400, 404 and 405`, async () => {
      for (const target of targets) {
        assert.equal(await codeOf(nobody, target), 401, target);
        assert.equal(await codeOf(stranger, target), 403, target);
        assert.ok([400, 404].includes(await codeOf(admin, target)), target);
      }
    });
  }

  test('of a method: TRACE and others that nothing serves', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'OPTIONS']) {
      for (const target of ['/api/v1/nodes', '/healthz', '/metrics', '/nothing', '/api/v1/foos']) {
        assert.equal(await codeOf(nobody, target, method), 401, `${method} ${target}`);
        assert.equal(await codeOf(stranger, target, method), 403, `${method} ${target}`);
        const allowed = await codeOf(admin, target, method);
        assert.ok([404, 405].includes(allowed), `${method} ${target}: ${allowed}`);
      }
    }
    const reply = await stranger.request('TRACE', '/healthz');
    assert.equal(reply.headers['allow'], undefined, 'which methods there are');
  });
});

describe('for a path whose kind is not served', () => {
  test('the 403 names the resource, verb, group and scope', async () => {
    const slices = '/apis/resource.k8s.io/v1/resourceslices';
    const user = 'User "stranger" cannot';
    assert.equal(
      await messageTo(stranger, 'DELETE', `${slices}/a`),
      `resourceslices.resource.k8s.io "a" is forbidden: ${user} delete resource "resourceslices" in API group "resource.k8s.io" at the cluster scope`,
    );
    assert.equal(
      await messageTo(stranger, 'DELETE', slices),
      `resourceslices.resource.k8s.io is forbidden: ${user} deletecollection resource "resourceslices" in API group "resource.k8s.io" at the cluster scope`,
    );
    assert.equal(
      await messageTo(stranger, 'GET', '/api/v1/namespaces/a/foos/b/scale'),
      `foos/scale "b" is forbidden: ${user} get resource "foos/scale" in API group "" in the namespace "a"`,
    );
    for (const [query, verb] of [
      ['', 'list'],
      ['?watch=1', 'watch'],
      ['?watch=false', 'list'],
    ]) {
      assert.match(
        String(await messageTo(stranger, 'GET', `/api/v1/foos${query}`)),
        new RegExp(`${user} ${verb} `),
      );
    }
  });

  test('a path that names no object is told as a path', async () => {
    assert.equal(
      await messageTo(stranger, 'GET', '/nothing'),
      'forbidden: User "stranger" cannot get path "/nothing"',
    );
    assert.equal(await codeOf(stranger, '/apis/no.example/v2'), 404, 'discovery is for all who are known');
  });
});

describe('one slash at the end of a path', () => {
  test('is as none', async () => {
    await admin.must('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } });
    for (const path of [
      '/api/v1/namespaces/',
      '/api/v1/namespaces/default/',
      '/api/v1/namespaces/default/configmaps/',
      '/api/v1/namespaces/default/configmaps/a/',
      '/api/v1/namespaces/default/status/',
      '/apis/coordination.k8s.io/v1/leases/',
      ...['/api/', '/apis/', '/api/v1/', '/apis/coordination.k8s.io/', '/apis/coordination.k8s.io/v1/'],
    ]) {
      assert.equal(await codeOf(admin, path), 200, path);
      assert.equal(await codeOf(nobody, path), 401, path);
    }
    for (const path of ['/api/v1/namespaces//', '/api/v1/namespaces/default//']) {
      assert.equal(await codeOf(admin, path), 404, path);
      assert.equal(await codeOf(stranger, path), 403, path);
    }
  });

  test('changes nothing of who may do what, and of which object it is done to', async () => {
    assert.equal(await codeOf(stranger, '/api/v1/namespaces/default/configmaps/a/'), 403);
    const made = await admin.must('POST', '/api/v1/namespaces/', { metadata: { name: 'slash' } });
    assert.equal(made.metadata.name, 'slash');
    assert.equal((await admin.must('GET', '/api/v1/namespaces/slash/')).metadata.uid, made.metadata.uid);
  });
});
