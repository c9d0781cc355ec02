import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import type { OidcOptions } from '../../../../../src/apiserver/authn/index.ts';
import { oidcAuthenticator } from '../../../../../src/apiserver/authn/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { nodes, shiftedClock, startServer } from '../../support/index.ts';
import { startIssuer } from './issuer.ts';

const issuer = await startIssuer();
after(() => issuer[Symbol.asyncDispose]());

const clock = shiftedClock();
const usual: OidcOptions = { issuerUrl: issuer.url, clientId: 'nodeward', caFile: issuer.caFile };

async function asker(options: Partial<OidcOptions> = {}) {
  const authenticator = await oidcAuthenticator({ ...usual, ...options }, { clock, log: silentLogger() });
  return async (token: string) => (await authenticator.identify(token))?.user;
}

describe('an ID token', () => {
  test('names its holder after the issuer, whose subjects mean nothing elsewhere', async () => {
    const who = await asker();
    assert.deepEqual(await who(await issuer.token()), {
      name: `${issuer.url}#alice`,
      groups: ['system:authenticated'],
      extra: {},
    });
  });

  test('names user and groups by the claims and prefixes that are configured', async () => {
    const who = await asker({
      usernameClaim: 'nick',
      usernamePrefix: 'oidc:',
      groupsClaim: 'teams',
      groupsPrefix: 'team:',
    });
    const user = async (claims: Record<string, unknown>) => await who(await issuer.token(claims));
    assert.deepEqual(await user({ nick: 'al', teams: ['a', 'b'] }), {
      name: 'oidc:al',
      groups: ['team:a', 'team:b', 'system:authenticated'],
      extra: {},
    });
    assert.deepEqual((await user({ nick: 'al', teams: 'a' }))?.groups, ['team:a', 'system:authenticated']);
    for (const claims of [
      {},
      { nick: '' },
      { nick: 7 },
      { nick: 'al', teams: [1] },
      { nick: 'al', teams: {} },
    ]) {
      assert.equal(await user(claims), undefined, JSON.stringify(claims));
    }
  });

  test('never names the cluster’s own users and groups', async () => {
    const who = await asker({ usernamePrefix: '-', groupsClaim: 'groups' });
    assert.equal(await who(await issuer.token({ sub: 'system:node:a' })), undefined);
    const user = await who(await issuer.token({ groups: ['system:masters', 'ops'] }));
    assert.deepEqual(user?.groups, ['ops', 'system:authenticated']);
  });

  test('names by email only when that is verified, without a prefix unless one is given', async () => {
    const who = await asker({ usernameClaim: 'email' });
    const email = 'al@example.org';
    assert.equal((await who(await issuer.token({ email })))?.name, email);
    assert.equal((await who(await issuer.token({ email, email_verified: true })))?.name, email);
    assert.equal(await who(await issuer.token({ email, email_verified: false })), undefined);
    assert.equal(await who(await issuer.token({ email, email_verified: 'true' })), undefined);
  });

  test('must have the claims that are required', async () => {
    const who = await asker({ requiredClaims: { tenant: 'blue' }, usernamePrefix: '-' });
    assert.equal((await who(await issuer.token({ tenant: 'blue' })))?.name, 'alice');
    assert.equal(await who(await issuer.token({ tenant: 'red' })), undefined);
    assert.equal(await who(await issuer.token()), undefined);
  });

  test('of another audience, issuer or time, or signed in another way, is nobody’s', async () => {
    const who = await asker();
    const now = Math.floor(clock.now() / 1000);
    for (const claims of [
      { aud: 'other' },
      { aud: ['other', 'third'] },
      { iss: `${issuer.url}/` },
      { iss: 'https://other.example' },
      { exp: now - 60 },
      { exp: undefined },
      { nbf: now + 600 },
    ]) {
      assert.equal(await who(await issuer.token(claims)), undefined, JSON.stringify(claims));
    }
    const other = await asker({ signingAlgs: ['ES256', 'PS256'] });
    assert.equal(await other(await issuer.token()), undefined);
    const secret = new TextEncoder().encode('x'.repeat(32));
    const claims = { iss: issuer.url, aud: 'nodeward', sub: 'alice', exp: now + 60 };
    assert.equal(
      await who(await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret)),
      undefined,
    );
    const [, body] = (await issuer.token()).split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    for (const token of [`${none}.${body}.`, `${none}.${body}.x`, 'x', '..', 'a.b.c']) {
      assert.equal(await who(token), undefined, token);
    }
  });

  test('that was changed in any letter of its signature is nobody’s', async () => {
    const who = await asker();
    const token = await issuer.token();
    const changed = `${token.slice(0, -10)}${token.at(-10) === 'A' ? 'B' : 'A'}${token.slice(-9)}`;
    assert.equal(await who(changed), undefined);
    assert.notEqual(await who(token), undefined);
  });

  test('ends when it says so, though it was found good before', async () => {
    const who = await asker();
    const token = await issuer.token({ exp: Math.floor(clock.now() / 1000) + 60 });
    assert.notEqual(await who(token), undefined);
    clock.shiftMs = 61_000;
    assert.equal(await who(token), undefined);
    clock.shiftMs = 0;
  });
});

describe('the keys of an issuer', () => {
  test('that are withdrawn end their tokens within ten minutes, also those that were found good', async () => {
    let shiftMs = 0;
    const moving = { ...clock, monotonicMs: () => clock.monotonicMs() + shiftMs };
    const authenticator = await oidcAuthenticator(usual, { clock: moving, log: silentLogger() });
    const token = await issuer.token({ exp: Math.floor(clock.now() / 1000) + 3600 });
    assert.notEqual(await authenticator.identify(token), undefined);
    await issuer.rotate(false);
    assert.notEqual(await authenticator.identify(token), undefined, 'nobody has asked again yet');
    shiftMs = 10 * 60_000 + 1;
    assert.equal(await authenticator.identify(token), undefined);
  });

  test('are asked for again when a token has a new one, but not for every made-up one', async () => {
    let shiftMs = 0;
    const moving = { ...clock, monotonicMs: () => clock.monotonicMs() + shiftMs };
    const authenticator = await oidcAuthenticator(usual, { clock: moving, log: silentLogger() });
    const who = async (token: string) => await authenticator.identify(token);
    const before = await issuer.publish({});
    assert.notEqual(await who(await issuer.token()), undefined);
    for (let made = 0; made < 20; made += 1) {
      assert.equal(await who(await issuer.token({}, { kid: `made-up-${made}` })), undefined);
    }
    assert.equal((await issuer.publish({})) - before, 2, 'one document, one set of keys');
    await issuer.rotate();
    shiftMs = 20_000;
    assert.notEqual(await who(await issuer.token()), undefined);
    assert.equal((await issuer.publish({})) - before, 4);
  });

  test('that cannot be had refuse, and work again when they can', async () => {
    let shiftMs = 0;
    const moving = { ...clock, monotonicMs: () => clock.monotonicMs() + shiftMs };
    const authenticator = await oidcAuthenticator(usual, { clock: moving, log: silentLogger() });
    const who = async (token: string) => await authenticator.identify(token);
    const path = '/.well-known/openid-configuration';
    const good = JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` });
    for (const bad of [
      null,
      '{',
      '[]',
      '{}',
      `{"issuer":"x"}`,
      `{"issuer":"${issuer.url}","jwks_uri":"http://x"}`,
    ]) {
      await issuer.publish({ [path]: bad });
      assert.equal(await who(await issuer.token()), undefined);
      shiftMs += 20_000;
    }
    await issuer.publish({ [path]: good });
    assert.notEqual(await who(await issuer.token()), undefined);
  });

  test('are not taken from a server of another authority', async () => {
    const who = await asker({ caFile: undefined });
    assert.equal(await who(await issuer.token()), undefined);
  });
});

test('what cannot be configured is told at once', async () => {
  for (const [wrong, message] of [
    [{ issuerUrl: 'http://127.0.0.1' }, /must be an https URL/],
    [{ issuerUrl: 'x' }, /must be an https URL/],
    [{ issuerUrl: 'https://a/?b' }, /neither query nor fragment/],
    [{ clientId: '' }, /a client id is needed/],
    [{ signingAlgs: ['HS256', 'none'] }, /unknown signing algorithms HS256, none/],
    [{ caFile: '/nowhere' }, /cannot be read from \/nowhere/],
    [{ caFile: import.meta.filename }, /it has no certificate in PEM/],
  ] as const) {
    await assert.rejects(asker(wrong), message);
  }
});

test('a server takes ID tokens as bearer tokens, and logs none', async () => {
  const oidc = { ...usual, usernamePrefix: '-' };
  await using server = await startServer({ authentication: { oidc } });
  const headers = { authorization: `Bearer ${await issuer.token({ sub: 'bob' })}` };
  assert.equal((await server.nobody.request('GET', '/api', { headers })).code, 200);
  const plain = { authorization: `Bearer ${await issuer.token()}` };
  const { message } = await server.nobody.refused('Forbidden', 'GET', nodes, { headers: plain });
  assert.match(message ?? '', /User "alice" cannot/);
  const foreign = { authorization: `Bearer ${await issuer.token({ aud: 'x' })}` };
  await server.nobody.refused('Unauthorized', 'GET', nodes, { headers: foreign });
  assert.doesNotMatch(server.logged(), /eyJ/);
});
