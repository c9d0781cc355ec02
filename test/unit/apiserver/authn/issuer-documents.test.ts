import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { startServer } from '../support/index.ts';

describe('the documents of the issuer of service account tokens', () => {
  test('are all that somebody else needs to check one', async () => {
    await using server = await startServer();
    const { status } = await server.admin.must(
      'POST',
      '/api/v1/namespaces/default/serviceaccounts/default/token',
      { spec: { audiences: ['vault'] } },
    );
    const told = await server.stranger.request('GET', '/.well-known/openid-configuration');
    assert.equal(told.code, 200, told.text);
    const { issuer, jwks_uri, id_token_signing_alg_values_supported: algorithms } = JSON.parse(told.text);
    assert.equal(jwks_uri, `${issuer}/openid/v1/jwks`);
    assert.deepEqual(algorithms, ['ES256']);
    const keys = await server.stranger.request('GET', '/openid/v1/jwks');
    assert.match(String(keys.headers['content-type']), /^application\/jwk-set\+json/);
    assert.doesNotMatch(keys.text, /"d":/, 'no private half');
    const token = String(Reflect.get(Object(status), 'token'));
    const { payload } = await jwtVerify(token, createLocalJWKSet(JSON.parse(keys.text)), {
      issuer,
      audience: 'vault',
    });
    assert.equal(payload.sub, 'system:serviceaccount:default:default');
  });

  test('are not for whoever has no credentials', async () => {
    await using server = await startServer();
    await server.nobody.refused('Unauthorized', 'GET', '/openid/v1/jwks');
    await server.nobody.refused('Unauthorized', 'GET', '/.well-known/openid-configuration');
  });
});
