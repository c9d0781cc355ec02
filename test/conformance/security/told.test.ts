import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { generateKeyPem } from '../../../src/base/x509/index.ts';
import { nodeward } from '../../integration/nodeward/index.ts';
import { temporaryFolder } from '../../support/index.ts';
import { answeringServer } from '../../unit/apiserver/authz/webhook/answering-server.ts';
import type { ApiTester } from '../../unit/apiserver/support/api-tester.ts';
import { Secrets } from './secrets.ts';
import type { SecuredServer } from './secured-server.ts';
import { startSecuredServer } from './secured-server.ts';
import { accounts, tokenOf } from './tokens.ts';

/*
 * Credentials go through the server in many ways: in headers, in bodies that are wrong, in reviews, to other servers and
 * back. Everything is audited with its bodies, and logged; at the end all of it is looked through.
 */

const resources = new AsyncDisposableStack();
let server: SecuredServer;
let admin: ApiTester;
let asked: readonly object[];

before(async () => {
  // it says everything that it was sent, as a server in trouble may
  const webhook = await answeringServer(() => ({
    code: 500,
    text: `failed: ${JSON.stringify(webhook.asked)}`,
  }));
  resources.use(webhook);
  ({ asked } = webhook);
  server = resources.use(await startSecuredServer('--authorization-webhook-config-file', webhook.kubeconfig));
  ({ admin } = server);
  server.secrets.keep('the token for the webhook', 'webhook-token');
});
after(() => resources.disposeAsync());

const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const inSystem = '/api/v1/namespaces/kube-system/secrets';

describe('a credential is told to nobody', () => {
  test('when it comes in a header, right or wrong, or as part of an address', async () => {
    const wrong = server.secrets.keep('a wrong token', `wrong-${randomUUID()}`);
    const password = server.secrets.keep('a password', `password-${randomUUID()}`);
    const basic = Buffer.from(`admin:${password}`).toString('base64');
    for (const authorization of [
      `Bearer ${wrong}`,
      `Basic ${server.secrets.keep('it', basic)}`,
      wrong,
      `Bearer ${wrong} x`,
    ]) {
      await server.showing(authorization).refused([401], 'GET', '/api/v1/nodes');
      await server.showing(authorization).refused([401], 'GET', '/nothing');
      await server.stranger.refused([403], 'GET', '/api/v1/nodes', { headers: { authorization } });
    }
    await server.bearer(server.listedToken).refused([403], 'GET', '/api/v1/nodes');
    assert.ok(asked.length > 0, 'the other server was asked, and has answered with what it was told');
  });

  test('when it is reviewed', async () => {
    const wrong = server.secrets.keep('a token that was reviewed', `reviewed-${randomUUID()}`);
    await admin.must('POST', accounts, { metadata: { name: 'robot' } });
    const good = server.secrets.keepToken('a token of an account', await tokenOf(admin, 'robot'));
    for (const token of [wrong, good, server.listedToken]) {
      await admin.must('POST', reviews, { spec: { token } });
      await server.stranger.refused([403], 'POST', reviews, { body: { spec: { token } } });
      for (const [body, query] of [
        [{ spec: { token, audiences: 1 } }, ''],
        [{ spec: { token: [token] } }, ''],
        [{ spec: { token, more: token } }, '?fieldValidation=Strict'],
        [`{"spec":{"token":"${token}"`, ''],
        [`{"spec":{"token":"${token}","token":"${token}"}}`, '?fieldValidation=Strict'],
      ] as const) {
        await refusedToAdmin('POST', `${reviews}${query}`, body);
      }
    }
  });

  test('when it is made', async () => {
    const bound = { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'none' } };
    await refusedToAdmin('POST', `${accounts}/robot/token`, { spec: bound });
    await admin.must('POST', `${accounts}/robot/token?pretty=true`, { spec: { expirationSeconds: 3600 } });
    server.secrets.keepToken(
      'a token with its account',
      await tokenOf(admin, 'robot', { expirationSeconds: 7200 }),
    );
  });

  test('when it is kept in a Secret', async () => {
    const secret = server.secrets.keep(
      'the secret of a bootstrap token',
      randomUUID().replaceAll('-', '').slice(0, 16),
    );
    const key = await generateKeyPem();
    server.secrets.keepKey('a key in a Secret', key);
    const stringData = { 'token-id': 'abc123', 'token-secret': secret };
    const token = {
      metadata: { name: 'bootstrap-token-abc123' },
      type: 'bootstrap.kubernetes.io/token',
      stringData,
    };
    await admin.must('POST', inSystem, token);
    await admin.must('POST', inSystem, { metadata: { name: 'key' }, stringData: { key } });
    await refusedToAdmin('POST', inSystem, token);
    await refusedToAdmin('PUT', `${inSystem}/bootstrap-token-abc123`, { ...token, type: 'other' });
    await refusedToAdmin('POST', `${inSystem}?fieldValidation=Strict`, { ...token, tokens: stringData });
    await refusedToAdmin('POST', inSystem, { metadata: { name: 'x' }, data: { key, secret } });
    await refusedToAdmin('POST', inSystem, {
      metadata: { name: 'x' },
      stringData: { secret },
      immutable: key,
    });
    // expired: whoever has the right one is told of in the log
    const ended = {
      ...stringData,
      expiration: '2020-01-01T00:00:00Z',
      'usage-bootstrap-authentication': 'true',
    };
    await admin.must('PUT', `${inSystem}/bootstrap-token-abc123`, { ...token, stringData: ended });
    await server.bearer(`abc123.${secret}`).refused([401], 'GET', '/api');
  });

  /** Somebody who may do it, but not so; the answer tells what is wrong, and goes into logs of clients. */
  async function refusedToAdmin(method: string, path: string, body: object | string): Promise<void> {
    const { code, text } = await admin.request(method, path, { body });
    assert.ok([400, 404, 409, 422].includes(code), `${method} ${path}: ${code} ${text}`);
    server.secrets.tell(`the answer to ${method} ${path}`, text);
  }
});

describe('a credential in a file', () => {
  test('that is wrong is not told when the server does not start', async () => {
    await using folder = await temporaryFolder();
    const secrets = new Secrets();
    const password = secrets.keep('a password', `password-${randomUUID()}`);
    const key = await generateKeyPem();
    secrets.keepKey('a key', key);
    const kubeconfig = (user: object, server = 'https://127.0.0.1:1') =>
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server } }],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      });
    const path = join(folder.path, 'file');
    const rows: [string, string][] = [
      ['--authorization-webhook-config-file', kubeconfig({ username: 'u', password })],
      [
        '--authorization-webhook-config-file',
        kubeconfig({ token: password }, `https://u:${password}@localhost`),
      ],
      ['--authorization-webhook-config-file', kubeconfig({ token: [password] })],
      [
        '--authorization-webhook-config-file',
        kubeconfig({ 'client-key-data': Buffer.from(key).toString('base64') }),
      ],
      ['--authorization-webhook-config-file', `users: [{name: u, user: {token: ${password}`],
      ['--token-auth-file', `${password}\n`],
      ['--token-auth-file', `${password},u\n${password},v\n`],
      ['--client-ca-file', key],
      ['--oidc-ca-file', key],
      ['--audit-policy-file', JSON.stringify({ password })],
    ];
    for (const [flag, content] of rows) {
      await writeFile(path, content, { mode: 0o600 });
      const more = flag.startsWith('--oidc')
        ? ['--oidc-issuer-url', 'https://127.0.0.1:1', '--oidc-client-id', 'x']
        : [];
      const audit = flag.startsWith('--audit') ? ['--audit-log-path', join(folder.path, 'audit')] : [];
      const root = ['--root-dir', join(folder.path, 'root'), '--secure-port', '0', '--storage', 'memory'];
      const argv = ['apiserver', ...root, flag, path, ...more, ...audit];
      const { timedOut, stdout, stderr } = await nodeward(argv, 10_000);
      assert.ok(!timedOut, `${flag} is taken: ${content.slice(0, 20)}`);
      secrets.tell(`what the program says of ${flag}`, stdout + stderr);
    }
    secrets.assertNoneTold();
  });
});
