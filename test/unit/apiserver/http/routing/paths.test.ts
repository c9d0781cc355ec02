import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ApiTester } from '../../support/index.ts';
import {
  csrs,
  lease,
  leases,
  named,
  nodes,
  signingRequest,
  startServer,
  statusIn,
} from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const inCoordination = '/apis/coordination.k8s.io/v1/namespaces';

/** What a raw path is answered with; clients would mend it before they send it. */
async function codeOf(who: ApiTester, path: string, method = 'GET'): Promise<number> {
  using connection = await who.raw();
  return await connection.exchange(`${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
}

describe('paths that only look like one that is there', () => {
  const strange = [
    ...['//api/v1/nodes', '/api//v1/nodes', '/api/v1//nodes', '/api/v1/nodes//', '/api/v1/./nodes'],
    ...[
      '/api/v1/namespaces/../nodes',
      '/api/v1/%2e%2e/v1/nodes',
      '/api%2fv1%2fnodes',
      '/API/v1/nodes',
      '/api/v1/Nodes',
    ],
    ...[
      '/api/v1/nodes;a=b',
      '/api/v1/nodes%3fwatch=1',
      '/api/v1/nodes%23',
      '/api/v1/nodes%20',
      '/api/v1/nodes%00',
    ],
    ...[`${inCoordination}//leases`, `${inCoordination}//leases/x`],
    ...[`${inCoordination}/default//leases`, '/apis//v1/leases', '/apis/coordination.k8s.io//leases'],
    ...['/api/v1/nodes//status', '/.', '/..', '/%2e'],
  ];
  for (const path of strange) {
    test(`${path} is nothing`, async () => {
      assert.equal(await codeOf(admin, path), 404);
      assert.equal(await codeOf(admin, path, 'POST'), 404);
      assert.equal(await codeOf(server.nobody, path), 401);
    });
  }

  test('a document may be asked for with a slash at the end, as generated clients do', async () => {
    const documents = [
      '/api/',
      '/apis/',
      '/api/v1/',
      '/apis/coordination.k8s.io/v1/',
      '/version/',
      '/openapi/v3/',
    ];
    for (const path of documents) assert.equal(await codeOf(admin, path), 200, path);
    assert.equal(await codeOf(server.nobody, '/api/'), 401);
  });

  test('what is no path at all is 400', async () => {
    for (const path of [
      '/api/v1/nodes/%',
      '/api/v1/nodes/%zz',
      '/api/v1/nodes/%ff',
      '/%c0%af',
      '/api/v1/nodes#x',
    ]) {
      assert.equal(await codeOf(admin, path), 400, path);
    }
  });
});

describe('names in paths', () => {
  test('an encoded slash is part of a name, and leads nowhere else', async () => {
    await admin.must('POST', leases('default'), lease('a'));
    const there = `${inCoordination}/kube-node-lease%2f..%2fdefault/leases/a`;
    for (const path of [
      there,
      `${leases('default')}%2fa`,
      `${nodes}/a%2fb`,
      `${nodes}/..%2fleases%2fdefault%2fa`,
    ]) {
      assert.equal(await codeOf(admin, path), 404, path);
    }
    assert.equal(
      await codeOf(admin, `${inCoordination}/%64efault/leases/%61`),
      200,
      'letters may be encoded',
    );
  });

  test('nothing is created under a name that has no path', async () => {
    for (const name of [
      'a/b',
      '..',
      '.',
      'a%2fb',
      'a/../b',
      '',
      ' ',
      'a\u0000b',
      'A',
      'x'.repeat(254),
      '\ud800',
    ]) {
      const { code } = await admin.request('POST', nodes, { body: JSON.stringify(named(name)) });
      assert.ok(code === 422 || code === 400, `${JSON.stringify(name)}: ${code}`);
    }
    const dots = await admin.refused('NotFound', 'POST', leases('%2e%2e'), { body: lease('x') });
    assert.equal(dots.message, 'namespaces ".." not found');
  });

  test('whatever can be created can be read and deleted by its path', async () => {
    for (const name of [
      'ä ö/'.replace('/', ''),
      'a?b=c&d',
      'a#b',
      'a;b',
      'x'.repeat(3000),
      '__proto__',
      'constructor',
      '\u0000',
    ]) {
      const reply = await admin.request('POST', csrs, {
        body: await signingRequest('n', { metadata: { name } }),
      });
      assert.equal(reply.code, 201, reply.text);
      const path = `${csrs}/${encodeURIComponent(name)}`;
      assert.equal((await admin.must('GET', path)).metadata.name, name);
      const deleted = await admin.request('DELETE', path);
      assert.ok([200, 409].includes(deleted.code), deleted.text);
    }
    const body = JSON.stringify(await signingRequest('n', { metadata: { name: 'x'.repeat(5000) } }));
    await admin.refused('BadRequest', 'POST', csrs, { body });
    const half = await admin.must('POST', csrs, await signingRequest('n', { metadata: { name: '\ud800' } }));
    assert.equal(half.metadata.name, '\ufffd', 'half a character is none');
    await admin.must('GET', `${csrs}/${encodeURIComponent('\ufffd')}`);
  });

  test('a path that is too long for the head of a request is told so', async () => {
    const reply = await admin.request('GET', `${nodes}/${'a'.repeat(20_000)}`);
    assert.equal(reply.code, 431);
    assert.match(statusIn(reply).message ?? '', /too large/);
    assert.equal((await admin.request('GET', `${nodes}/${'a'.repeat(8000)}`)).code, 404);
  });
});

describe('parameters', () => {
  test('what they cannot mean is 400 or nothing, never more', async () => {
    for (const query of ['%ff=%zz', '&&&==', 'watch=false&watch=true', 'a[b]=c', '__proto__=1', '?', '%']) {
      assert.equal(await codeOf(admin, `${nodes}?${query}`), 200, query);
    }
    assert.equal(await codeOf(admin, `${nodes}?resourceVersion=%ff`), 400);
    assert.equal(await codeOf(admin, `${nodes}?${'a=b&'.repeat(3000)}`), 200);
    assert.equal(await codeOf(admin, `${nodes}?labelSelector=${'a,'.repeat(5000)}a`), 400);
  });
});
