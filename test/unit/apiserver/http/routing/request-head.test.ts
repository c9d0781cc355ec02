import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { binding, clusterBindings, clusterRoles, role, user } from '../../authz/rbac/served.ts';
import { nodes, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

/** The code of the answer to a GET with these lines in its head. */
async function codeOf(who: typeof admin, target: string, ...lines: string[]): Promise<number> {
  using connection = await who.raw();
  return await connection.exchange(`GET ${target} HTTP/1.1\r\n${['host: x', ...lines].join('\r\n')}\r\n\r\n`);
}

describe('a credential that is sent twice', () => {
  test('is a bad request, whichever of the two is good', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await admin.must('POST', accounts, { metadata: { name: 'robot' } });
    const { status } = await admin.must('POST', `${accounts}/robot/token`, { spec: {} });
    const good = `authorization: Bearer ${status?.['token']}`;
    const wrong = 'Authorization: Bearer wrong';
    assert.equal(await codeOf(server.nobody, '/api', good), 200);
    for (const lines of [
      [good, wrong],
      [wrong, good],
      [good, good],
      [good, 'x: y', 'AUTHORIZATION:'],
    ]) {
      assert.equal(await codeOf(server.nobody, '/api', ...lines), 400);
      assert.equal(await codeOf(server.nobody, nodes, ...lines), 400);
    }
    assert.equal(await codeOf(admin, '/api', good, wrong), 400, 'beside a certificate too');
  });
});

describe('whom to impersonate', () => {
  test('is said once: an empty name and then another is nobody that could be told', async () => {
    for (const header of ['Impersonate-User', 'Impersonate-Uid']) {
      const twice = [`${header}:`, `${header}: alice`];
      assert.equal(await codeOf(admin, nodes, 'Impersonate-User: alice', ...twice), 400);
      assert.equal(await codeOf(admin, nodes, ...twice), 400);
    }
  });
});

describe('a path', () => {
  before(async () => {
    const nonResourceURLs = ['/openapi/*', '/%6detrics', 'https://x/metrics'];
    await admin.must('POST', clusterRoles, role('paths', { verbs: ['get'], nonResourceURLs }));
    await admin.must('POST', clusterBindings, binding('paths', 'ClusterRole', 'paths', user('stranger')));
  });

  test('is judged as it is read, however it is written', async () => {
    for (const target of ['/openapi/v3', '/openapi/%763', 'https://x/openapi/v3', '/%6fpenapi/v3']) {
      assert.equal(await codeOf(server.stranger, target), 200, target);
    }
    for (const target of ['/metrics', '/%6detrics', 'https://x/metrics', '/openapi%2f..%2fmetrics']) {
      const code = await codeOf(server.stranger, target);
      assert.ok(code === 403 || code === 404, `${target}: ${code}`);
    }
  });
});
