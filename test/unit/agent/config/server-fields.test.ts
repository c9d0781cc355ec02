import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getCiphers } from 'node:tls';
import { ConfigError, loadConfig } from '../../../../src/agent/config/index.ts';
import { cipherSuites, openSslCiphers } from '../../../../src/agent/config/tls-fields.ts';
import { configFiles } from './config-files.ts';

async function load(text: string, standalone = false) {
  await using folder = await configFiles({ 'c.yaml': text });
  return await loadConfig({ config: `${folder.path}/c.yaml`, flags: {}, standalone });
}

async function problemOf(text: string): Promise<string> {
  const error = await load(text).then(
    () => assert.fail(`${text} was accepted`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ConfigError);
  assert.equal(error.problems.length, 1);
  return error.problems[0]?.message ?? '';
}

describe('who may call the agent', () => {
  test('is told by certificates and tokens, and the control plane is asked what they may', async () => {
    const { config } = await load('');
    assert.deepEqual(config.server.access, {
      tokens: true,
      tokenTtlMs: 120_000,
      anonymous: false,
      alwaysAllow: false,
      allowedTtlMs: 300_000,
      deniedTtlMs: 30_000,
    });
  });

  test('is told by certificates alone, who may everything, without a control plane', async () => {
    const { access } = (await load('', true)).config.server;
    assert.deepEqual([access.tokens, access.anonymous, access.alwaysAllow], [false, false, true]);
  });

  test('is as it is stated', async () => {
    const { config, warnings } = await load(
      [
        'authentication: {webhook: {enabled: false, cacheTTL: 1m}, anonymous: {enabled: true}}',
        'authorization: {webhook: {cacheAuthorizedTTL: 8m, cacheUnauthorizedTTL: 500ms}}',
      ].join('\n'),
    );
    assert.deepEqual(config.server.access, {
      tokens: false,
      tokenTtlMs: 60_000,
      anonymous: true,
      alwaysAllow: false,
      allowedTtlMs: 480_000,
      deniedTtlMs: 500,
    });
    assert.deepEqual(warnings, []);
  });

  test('keeps its times where they are stated as zero, which is told', async () => {
    const { config, warnings } = await load('authorization: {mode: "", webhook: {cacheAuthorizedTTL: 0s}}');
    assert.equal(config.server.access.allowedTtlMs, 300_000);
    assert.equal(config.server.access.alwaysAllow, false);
    assert.match(warnings.join(), /authorization\.webhook\.cacheAuthorizedTTL: zero means the default$/);
  });

  test('is warned of when it is everybody', async () => {
    const { warnings } = await load(
      'authentication: {anonymous: {enabled: true}}\nauthorization: {mode: AlwaysAllow}',
    );
    assert.match(warnings.join(), /any client that reaches the port may do everything/);
  });
});

describe('how connections are secured', () => {
  test('is what is stated', async () => {
    const suites = 'tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]';
    const { tls } = (await load(`tlsMinVersion: VersionTLS13\n${suites}`)).config.server;
    assert.equal(tls.minVersion, 'TLSv1.3');
    assert.equal(
      tls.ciphers,
      'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-RSA-AES128-GCM-SHA256',
    );
  });

  test('can be nothing that is not there', async () => {
    assert.match(await problemOf('tlsMinVersion: VersionTLS11'), /not one of VersionTLS12, VersionTLS13/);
    assert.match(
      await problemOf('tlsCipherSuites: [TLS_RSA_WITH_RC4_128_SHA]'),
      /"TLS_RSA_WITH_RC4_128_SHA" is not a cipher suite that can be served/,
    );
  });

  test('knows no cipher suite that OpenSSL does not have', () => {
    const known = getCiphers().map((name) => name.toUpperCase());
    for (const cipher of (openSslCiphers(cipherSuites) ?? '').split(':'))
      assert.ok(known.includes(cipher), cipher);
  });
});

test('the plain port of /healthz is off, and can be had', async () => {
  assert.equal((await load('')).config.server.healthzPort, 0);
  const { config, warnings } = await load('healthzPort: 10248\nhealthzBindAddress: "::1"');
  assert.deepEqual([config.server.healthzPort, config.server.healthzBindAddress], [10_248, '::1']);
  assert.deepEqual(warnings, []);
  assert.deepEqual((await load('healthzPort: 0')).warnings, []);
  assert.match(await problemOf('healthzPort: 65536'), /from 0 to 65535/);
  assert.match(await problemOf('healthzBindAddress: localhost'), /"localhost" is not an IP address/);
});
