import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { foreignMaster, nodes, startServer } from '../support/index.ts';

const server = await startServer({ authentication: { anonymous: true } });
after(() => server[Symbol.asyncDispose]());

const selfReview = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

describe('a server that takes anonymous requests', () => {
  test('refuses them as not permitted, by name', async () => {
    const { message } = await server.nobody.refused('Forbidden', 'GET', nodes);
    assert.match(message ?? '', /User "system:anonymous" cannot list resource "nodes"/);
    await server.nobody.refused('Forbidden', 'POST', selfReview, { body: {} });
  });

  test('does not take a wrong credential for none', async () => {
    for (const authorization of ['Bearer abc', 'Basic YTpi', 'Bearer ', 'x']) {
      await server.nobody.refused('Unauthorized', 'GET', nodes, { headers: { authorization } });
    }
    await server.holder(await foreignMaster()).refused('Unauthorized', 'GET', nodes);
  });

  test('knows everybody else as before', async () => {
    assert.equal((await server.admin.request('GET', nodes)).code, 200);
  });
});
