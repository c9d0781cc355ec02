import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createAuthority, issuePair, noNames } from '../../../src/base/x509/index.ts';
import type { Asker } from './asker.ts';
import type { Route } from './routes.ts';
import { everyPath, everyRoute, forEach, openPaths, readable } from './routes.ts';
import type { SecuredServer } from './secured-server.ts';
import { startSecuredServer } from './secured-server.ts';
import { accounts, forgedTokens, outlivedTokens, tokenOf, whoAmI } from './tokens.ts';

/*
 * Whoever cannot say who they are learns nothing: on every path that the server has, with every method, whatever they
 * bring along.
 */

const hourMs = 3600_000;

let server: SecuredServer;
let routes: Route[];

before(async () => {
  server = await startSecuredServer();
  routes = everyRoute(await everyPath(server.admin));
});
after(() => server?.[Symbol.asyncDispose]());

/** Every route but those that are open, on which only what can be read is answered. */
async function assertNobody(who: Asker, asked: readonly Route[] = routes): Promise<void> {
  await forEach(asked, async ({ method, path }) => {
    const [plain = ''] = path.split('?');
    if (!openPaths.includes(plain)) return await who.refused([401], method, path);
    const { code } = await who.ask(method, path);
    const reads = ['GET', 'HEAD'].includes(method);
    return assert.ok(reads ? code === 200 : [401, 405].includes(code), `${method} ${path}: ${code}`);
  });
}

/** One route of each sort: which of them it is makes no difference to who somebody is. */
function someRoutes(): Route[] {
  const paths = [
    '/',
    '/metrics',
    '/api',
    '/nothing',
    '/api/v1/nodes',
    '/api/v1/namespaces/default/secrets/canary',
  ];
  const reading = paths.map((path) => ({ method: 'GET', path }));
  const watching = { method: 'GET', path: '/api/v1/secrets?watch=1' };
  return [
    ...reading,
    watching,
    { method: 'POST', path: whoAmI },
    { method: 'DELETE', path: '/api/v1/secrets' },
  ];
}

describe('without a credential', () => {
  test('nothing but health and version is answered', async () => {
    await assertNobody(server.nobody);
  });

  test('the paths that are open are exactly these', async () => {
    assert.deepEqual(await readable(server.nobody, routes), openPaths);
  });

  test('what is sent along as something else is none', async () => {
    const [path, body] = [whoAmI, {}];
    for (const headers of [
      { cookie: `token=${server.listedToken}` },
      { 'x-api-key': server.listedToken },
      { 'proxy-authorization': `Bearer ${server.listedToken}` },
      { 'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${server.listedToken}` },
    ]) {
      await server.nobody.refused([401], 'POST', path, { body, headers });
    }
    for (const parameter of ['access_token', 'token', 'bearer_token', 'authorization']) {
      await server.nobody.refused([401], 'GET', `/api?${parameter}=not-a-token-that-counts`);
    }
  });
});

describe('a token', () => {
  test('that is good lets its bearer in: the other tests do not refuse everything', async () => {
    await server.admin.must('POST', accounts, { metadata: { name: 'good' } });
    const token = server.secrets.keepToken('a good token', await tokenOf(server.admin, 'good'));
    for (const good of [token, server.listedToken]) {
      assert.equal((await server.bearer(good).ask('POST', whoAmI, { body: {} })).code, 201);
    }
  });

  test('that is forged is nobody’s, on any route', async () => {
    await server.admin.must('POST', accounts, { metadata: { name: 'forged' } });
    const good = server.secrets.keepToken('a token to be forged', await tokenOf(server.admin, 'forged'));
    const forged = await forgedTokens(server, good);
    for (const [, token] of forged) await assertNobody(server.bearer(token), someRoutes());
    for (const what of ['expired', 'of another issuer', 'alg none', 'HS256 with the public key in PEM']) {
      const token = forged.find(([name]) => name === what)?.[1];
      assert.ok(token !== undefined, what);
      await assertNobody(server.bearer(token));
    }
  });

  test('for another audience is nobody’s, though the server has made it', async () => {
    await server.admin.must('POST', accounts, { metadata: { name: 'elsewhere' } });
    const audiences = ['https://elsewhere.example'];
    const token = await tokenOf(server.admin, 'elsewhere', { audiences });
    await assertNobody(server.bearer(server.secrets.keepToken('a token for others', token)));
  });

  test('ends with what it is for', async () => {
    for (const [what, token] of await outlivedTokens(server)) {
      await assertNobody(server.bearer(server.secrets.keepToken(`a token ${what}`, token)));
    }
  });

  test('for nodes that join ends with its Secret, and is no good with another secret', async () => {
    const [id, secret] = ['abc123', server.secrets.keep('a bootstrap token', 'x0y1z2x3y4z5x6y7')];
    const secrets = '/api/v1/namespaces/kube-system/secrets';
    await server.admin.must('POST', secrets, {
      metadata: { name: `bootstrap-token-${id}` },
      type: 'bootstrap.kubernetes.io/token',
      stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' },
    });
    const joining = server.bearer(`${id}.${secret}`);
    assert.equal((await joining.ask('POST', whoAmI, { body: {} })).code, 201);
    await joining.refused([403], 'GET', '/api/v1/namespaces/kube-system/secrets');
    await assertNobody(server.bearer(`${id}.x0y1z2x3y4z5x6y8`), someRoutes());
    await server.admin.must('DELETE', `${secrets}/bootstrap-token-${id}`);
    await assertNobody(joining, someRoutes());
  });

  test('under another scheme, or beside something else, is none', async () => {
    const { listedToken } = server;
    for (const authorization of [
      listedToken,
      `Basic ${listedToken}`,
      `Basic ${Buffer.from(`listed:${listedToken}`).toString('base64')}`,
      `Token ${listedToken}`,
      `Bearer`,
      `Bearer `,
      `Bearer ${listedToken} ${listedToken}`,
      `Bearer ${listedToken},Bearer x`,
      `Bearer "${listedToken}"`,
      `Bearer=${listedToken}`,
      `Negotiate ${listedToken}`,
      `Bearer ${listedToken.toUpperCase()}`,
      `Bearer ${listedToken.slice(0, -1)}`,
    ]) {
      await assertNobody(server.showing(authorization), someRoutes());
    }
  });
});

describe('a client certificate', () => {
  const subject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };
  const good = () => server.issue(subject);

  test('that is good lets its holder in', async () => {
    const holder = server.holder(await good());
    assert.equal((await holder.ask('GET', '/api/v1/nodes')).code, 200);
  });

  test('of another authority by the same name is nobody’s', async () => {
    const foreign = await createAuthority('nodeward-ca', hourMs, Date.now());
    const wanted = { subject, names: noNames, use: 'client', lifetimeMs: hourMs, now: Date.now() } as const;
    await assertNobody(server.holder(await issuePair(foreign, wanted)));
    await assertNobody(server.holder(foreign), someRoutes());
  });

  test('that has expired, is not yet valid, is for servers or has no name is nobody’s', async () => {
    for (const change of [
      { now: Date.now() - 2 * hourMs },
      { now: Date.now() + 2 * hourMs },
      { use: 'server' as const },
      { commonName: '' },
    ]) {
      await assertNobody(server.holder(await server.issue({ ...subject, ...change })));
    }
  });

  test('with the key of somebody else is no connection', async () => {
    const [one, other] = [await good(), await good()];
    const thief = server.holder({ cert: one.cert, key: other.key });
    await assert.rejects(thief.ask('GET', '/api'), /key values mismatch/);
  });
});
