import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import type { Pair } from '../../../../src/base/x509/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../../src/client/index.ts';
import type { TemporaryFolder } from '../../../support/index.ts';
import { runCommand, temporaryFolder } from '../../../support/index.ts';
import { clientPair, makeAuthority } from '../tls-server.ts';

let authority: Pair;
let credentials: Pair;
let folder: TemporaryFolder;

before(async () => {
  authority = await makeAuthority();
  credentials = await clientPair(authority);
});
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => await folder[Symbol.asyncDispose]());

const server = 'https://127.0.0.1:6443';
const base64 = (text: string) => Buffer.from(text).toString('base64');

interface Parts {
  cluster: Record<string, unknown>;
  user: Record<string, unknown>;
  context: Record<string, unknown>;
  file: Record<string, unknown>;
}

/** A good kubeconfig, with the given changes; JSON is YAML. */
function kubeconfig(changed: Partial<Parts> = {}): string {
  const cluster = { server, 'certificate-authority-data': base64(authority.cert), ...changed.cluster };
  const user = {
    'client-certificate-data': base64(credentials.cert),
    'client-key-data': base64(credentials.key),
    ...changed.user,
  };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...changed.context } }],
    'current-context': 'x',
    ...changed.file,
  });
}

async function write(text: string): Promise<string> {
  const path = join(folder.path, 'config');
  await writeFile(path, text);
  return path;
}

async function assertUnusable(path: string, message: RegExp): Promise<void> {
  await assert.rejects(readKubeconfig(path), (error) => {
    assert.ok(error instanceof ExitError, String(error));
    assert.equal(error.exitCode, exitCodes.configuration);
    assert.ok(error.message.startsWith(`kubeconfig ${path}: `), error.message);
    assert.match(error.message, message);
    return true;
  });
}

describe('a kubeconfig is read', () => {
  test('with everything in it', async () => {
    const read = await readKubeconfig(await write(kubeconfig({ context: { namespace: 'n' } })));
    assert.deepEqual(read, {
      name: 'x',
      server,
      ca: authority.cert,
      ...credentials,
      namespace: 'n',
      endpoint: 'controlPlane',
      extensions: {},
      files: [],
    });
    await using client = new ApiClient(clientOptionsOf(read));
    assert.equal(client.server, server);
  });

  test('with files, relative to itself', async () => {
    await mkdir(join(folder.path, 'pki'));
    await writeFile(join(folder.path, 'pki/ca.crt'), authority.cert);
    await writeFile(join(folder.path, 'me.crt'), credentials.cert);
    await writeFile(join(folder.path, 'me.key'), credentials.key);
    const text = `
apiVersion: v1
kind: Config
preferences: {}
clusters:
- name: c
  cluster: &c
    server: ${server}
    certificate-authority: pki/ca.crt
    tls-server-name: node-a
- {name: d, cluster: *c}
users:
- name: u
  user:
    client-certificate: me.crt
    client-key: ${join(folder.path, 'me.key')}
contexts:
- name: x
  context: {cluster: d, user: u}
current-context: x
`;
    const read = await readKubeconfig(await write(text));
    assert.deepEqual([read.ca, read.cert, read.key], [authority.cert, credentials.cert, credentials.key]);
    assert.equal(read.serverName, 'node-a');
  });

  test('data counts more than files, which need not be there then', async () => {
    const text = kubeconfig({ cluster: { 'certificate-authority': '/none' } });
    assert.equal((await readKubeconfig(await write(text))).ca, authority.cert);
  });

  test('with a token, from the file first', async () => {
    const none = { 'client-certificate-data': '', 'client-key-data': null };
    const path = await write(kubeconfig({ user: { ...none, token: 'in the file' } }));
    const { token, cert, key } = await readKubeconfig(path);
    assert.deepEqual([token, cert, key], ['in the file', undefined, undefined]);
    await writeFile(join(folder.path, 'token'), 'abc\n');
    const other = await write(kubeconfig({ user: { ...none, token: 'old', tokenFile: 'token' } }));
    assert.equal((await readKubeconfig(other)).token, 'abc');
  });

  test('without a user', async () => {
    const read = await readKubeconfig(await write(kubeconfig({ context: { user: '' } })));
    assert.deepEqual([read.cert, read.token], [undefined, undefined]);
  });

  test('with another context than the current one', async () => {
    const contexts = [{ name: 'y', context: { cluster: 'c', namespace: 'of y' } }];
    const path = await write(kubeconfig({ file: { contexts } }));
    assert.equal((await readKubeconfig(path, { context: 'y' })).namespace, 'of y');
    await assertUnusable(path, /contexts has no entry named "x": it has y$/);
  });

  test('with extensions, which are kept, and one of which is ours', async () => {
    const extensions = [
      { name: 'nodeward.io/endpoint', extension: 'agent' },
      { name: '__proto__', extension: { a: [1] } },
    ];
    const read = await readKubeconfig(await write(kubeconfig({ cluster: { extensions } })));
    assert.equal(read.endpoint, 'agent');
    assert.deepEqual(Object.entries(read.extensions), [
      ['nodeward.io/endpoint', 'agent'],
      ['__proto__', { a: [1] }],
    ]);
  });

  test('what is switched off is not refused', async () => {
    const path = await write(
      kubeconfig({
        cluster: { 'insecure-skip-tls-verify': false, 'proxy-url': '' },
        user: { username: '', exec: null },
      }),
    );
    assert.equal((await readKubeconfig(path)).server, server);
  });
});

describe('a kubeconfig that cannot be used says where and why', () => {
  const none = undefined;
  const noCertificate = { 'client-certificate-data': none };
  const noAuthority = { 'certificate-authority-data': none };
  const cases: [string, () => string, RegExp][] = [
    ['empty', () => '', /it is empty$/],
    ['a list', () => '[]', /it must be a mapping with clusters, users and contexts/],
    ['no YAML', () => 'a: [1\nb: }', /line \d+, column \d+: it is no valid YAML/],
    [
      'a key twice',
      () => 'kind: Config\nkind: Config\n',
      /line 2, column 1: a key stands there for the second time/,
    ],
    ['two documents', () => 'a: 1\n---\nb: 2\n', /it has 2 YAML documents instead of one/],
    ['another kind', () => kubeconfig({ file: { kind: 'Pod' } }), /kind must be Config, not "Pod"/],
    [
      'no current context',
      () => kubeconfig({ file: { 'current-context': '' } }),
      /current-context is not set/,
    ],
    [
      'a context that is not there',
      () => kubeconfig({ file: { 'current-context': 'z' } }),
      /named "z": it has x$/,
    ],
    [
      'no contexts',
      () => kubeconfig({ file: { contexts: none } }),
      /contexts has no entry named "x": it is empty/,
    ],
    ['contexts that are no list', () => kubeconfig({ file: { contexts: {} } }), /contexts must be a list/],
    [
      'an entry without name',
      () => kubeconfig({ file: { users: [{}] } }),
      /every entry of users must have a name/,
    ],
    ['no cluster', () => kubeconfig({ context: { cluster: none } }), /contexts\[x\]\.cluster is not set/],
    [
      'an unknown cluster',
      () => kubeconfig({ context: { cluster: 'd' } }),
      /clusters has no entry named "d"/,
    ],
    ['an unknown user', () => kubeconfig({ context: { user: 'v' } }), /users has no entry named "v"/],
    ['no server', () => kubeconfig({ cluster: { server: none } }), /clusters\[c\]\.server is not set/],
    [
      'plain HTTP',
      () => kubeconfig({ cluster: { server: 'http://a' } }),
      /clusters\[c\]\.server must be an https/,
    ],
    [
      'a server that is a number',
      () => kubeconfig({ cluster: { server: 6443 } }),
      /clusters\[c\]\.server must be a string/,
    ],
    [
      'no authority',
      () => kubeconfig({ cluster: noAuthority }),
      /neither .*authority-data nor .*authority is set/,
    ],
    [
      'an authority that is not base64',
      () => kubeconfig({ cluster: { 'certificate-authority-data': '-----BEGIN' } }),
      /clusters\[c\]\.certificate-authority-data holds no PEM in base64/,
    ],
    [
      'a file that is not there',
      () => kubeconfig({ cluster: { ...noAuthority, 'certificate-authority': 'none.crt' } }),
      /clusters\[c\]\.certificate-authority: ENOENT.*none\.crt/,
    ],
    [
      'a folder instead of a file',
      () => kubeconfig({ cluster: { ...noAuthority, 'certificate-authority': '.' } }),
      /clusters\[c\]\.certificate-authority: .* is not a regular file/,
    ],
    [
      'insecure connections',
      () => kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }),
      /clusters\[c\]: insecure-skip-tls-verify is not supported: give the certificate-authority/,
    ],
    [
      'a proxy',
      () => kubeconfig({ cluster: { 'proxy-url': 'http://p' } }),
      /clusters\[c\]\.proxy-url is not supported/,
    ],
    [
      'a command',
      () => kubeconfig({ user: { exec: { command: 'x' } } }),
      /users\[u\]\.exec is not supported/,
    ],
    [
      'a plugin',
      () => kubeconfig({ user: { 'auth-provider': {} } }),
      /users\[u\]\.auth-provider is not supported/,
    ],
    ['a password', () => kubeconfig({ user: { username: 'a' } }), /users\[u\]\.username is not supported/],
    [
      'somebody else’s rights',
      () => kubeconfig({ user: { as: 'admin' } }),
      /users\[u\]\.as is not supported/,
    ],
    [
      'a key alone',
      () => kubeconfig({ user: noCertificate }),
      /users\[u\] has a client-key but no client-certificate/,
    ],
    [
      'a certificate alone',
      () => kubeconfig({ user: { 'client-key-data': none } }),
      /users\[u\] has a client-certificate but no client-key/,
    ],
    [
      'a token that is a number',
      () => kubeconfig({ user: { token: 123 } }),
      /users\[u\]\.token must be a string; put it in/,
    ],
    [
      'a key twice deep within, of many',
      () => `a: {b: {${Array.from({ length: 20_000 }, (_, n) => `k${n}: 1`).join(', ')}, k7: 1}}`,
      /a key stands there for the second time/,
    ],
    ['deep brackets', () => `a: ${'['.repeat(100_000)}`, /it is nested too deeply/],
    ['deep lists', () => '- '.repeat(20_000), /it is nested too deeply/],
    ['many aliases', () => bomb(), /Excessive alias count/],
    ['too long', () => `# ${'x'.repeat(1_100_000)}`, /is longer than 1048576 bytes/],
  ];
  for (const [what, make, message] of cases) {
    test(what, async () => assertUnusable(await write(make()), message));
  }

  test('a file that is not there', async () => {
    await assertUnusable(join(folder.path, 'none'), /ENOENT/);
  });

  test('a FIFO does not hold up anybody', async () => {
    const path = join(folder.path, 'fifo');
    await runCommand('mkfifo', [path]);
    await assertUnusable(path, /is not a regular file/);
  });

  test('an empty token file', async () => {
    await writeFile(join(folder.path, 'token'), '\n');
    await assertUnusable(
      await write(kubeconfig({ user: { tokenFile: 'token' } })),
      /users\[u\]\.tokenFile: token is empty/,
    );
  });

  test('secrets are never shown', async () => {
    const path = await write('users:\n- name: u\n  user: {token: sesame, token: sesame}\n');
    await assert.rejects(readKubeconfig(path), (error) => !String(error).includes('sesame'));
    const broken = await write('users:\n- user:\n    token: "sesame\n  x: [');
    await assert.rejects(readKubeconfig(broken), (error) => !String(error).includes('sesame'));
  });

  test('whatever stands in it, the answer is a kubeconfig or an ExitError', async () => {
    const good = kubeconfig();
    await fc.assert(
      fc.asyncProperty(
        fc.nat(good.length),
        fc.nat(40),
        fc.string({ maxLength: 20 }),
        async (at, length, text) => {
          const path = await write(good.slice(0, at) + text + good.slice(at + length));
          await readKubeconfig(path).catch((error: unknown) => assert.ok(error instanceof ExitError));
        },
      ),
      { numRuns: 100 },
    );
  });
});

/** A few lines that would expand to billions. */
function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let n = 1; n < 10; n++)
    lines.push(`a${n}: &a${n} [${Array.from({ length: 9 }, () => `*a${n - 1}`).join(', ')}]`);
  return lines.join('\n');
}
