import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Route } from './routes.ts';
import { everyPath, everyRoute, forEach, openPaths, readable } from './routes.ts';
import type { SecuredServer } from './secured-server.ts';
import { startSecuredServer } from './secured-server.ts';
import { whoAmI } from './tokens.ts';

let server: SecuredServer;
let routes: Route[];

before(async () => {
  server = await startSecuredServer('--anonymous-auth=true');
  routes = everyRoute(await everyPath(server.admin));
});
after(() => server?.[Symbol.asyncDispose]());

describe('with anonymous requests taken, whoever has no credential', () => {
  test('reads health and version, and nothing else', async () => {
    assert.deepEqual(await readable(server.nobody, routes), openPaths);
  });

  test('is told on every other route that system:anonymous may not', async () => {
    await forEach(routes, async ({ method, path }) => {
      if (openPaths.includes(path.split('?', 1)[0] ?? '')) return;
      const { text } = await server.nobody.refused([403], method, path);
      if (method !== 'HEAD') assert.match(text, /\\"system:anonymous\\" cannot /);
    });
  });

  test('changes nothing there either', async () => {
    await forEach(openPaths, async (path) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
        await server.nobody.refused([403, 405], method, path);
      }
    });
  });

  test('does not even ask about themselves, nor as somebody else', async () => {
    await server.nobody.refused([403], 'POST', whoAmI, { body: {} });
    for (const name of ['admin', 'system:anonymous', 'system:serviceaccount:default:default']) {
      const headers = { 'impersonate-user': name };
      await server.nobody.refused([403], 'POST', whoAmI, { body: {}, headers });
    }
  });

  test('is not whoever shows a credential that is no good', async () => {
    for (const authorization of ['Bearer wrong', 'Basic eDp5', 'Bearer', 'nothing']) {
      for (const path of ['/api', '/api/v1/nodes', '/nothing']) {
        await server.showing(authorization).refused([401], 'GET', path);
      }
    }
    const expired = await server.issue({ commonName: 'late', now: Date.now() - 2 * 3600_000 });
    await server.holder(expired).refused([401], 'GET', '/api');
  });
});
