import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../../src/client/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { bearing, bootstrapSecrets } from '../../apiserver/support/bootstrap.ts';
import { nodes, startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

async function world() {
  const server = await startServer();
  const folder = await temporaryFolder();
  const admin = join(folder.path, 'admin.kubeconfig');
  await writeFile(admin, await readFile(server.running.kubeconfig, 'utf8'), { mode: 0o600 });
  const token = (...args: string[]) => runCommandLine(['token', ...args, '--kubeconfig', admin]);
  return {
    server,
    folder: folder.path,
    token,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe('nodeward token', () => {
  test('makes a token that the server knows, lists it without its secret, and deletes it', async () => {
    await using at = await world();
    const group = 'system:bootstrappers:rack-1';
    const made = await at.token('create', '--ttl', '2h', '--groups', group, '--description', 'new rack');
    assert.equal(made.code, 0, made.stderr);
    const [, token = '', id = '', secret = ''] =
      /^ {2}token +(([a-z0-9]{6})\.([a-z0-9]{16}))$/m.exec(made.stdout) ?? [];
    await at.server.nobody.refused('Forbidden', 'GET', nodes, bearing(token)); // it is known, that is
    const listed = await at.token('list');
    assert.match(listed.stdout, new RegExp(`^${id} +\\d{4}-\\S+Z +${group} +- +new rack$`, 'm'));
    assert.doesNotMatch(listed.stdout + listed.stderr + at.server.logged(), new RegExp(secret));
    const gone = await at.token('delete', token);
    assert.equal(gone.stdout, `the token ${id} is deleted\n`);
    await at.server.nobody.refused('Unauthorized', 'GET', nodes, bearing(token));
    const again = await at.token('delete', id);
    assert.deepEqual([again.code, again.stderr], [1, `nodeward: there is no token ${id}\n`]);
  });

  test('writes a kubeconfig that nobody else can read, and says what to run with it', async () => {
    await using at = await world();
    const file = join(at.folder, 'bootstrap.kubeconfig');
    const made = await at.token('create', '--kubeconfig-out', file);
    assert.match(made.stdout, new RegExp(`nodeward agent --bootstrap-kubeconfig ${file}`));
    assert.match(made.stdout, /from this machine only\..*NODEWARD_FLAGS="--bind-address=.*agent\.env/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    await using client = new ApiClient(clientOptionsOf(await readKubeconfig(file)));
    const { code } = await client.request({ method: 'GET', path: '/api' });
    assert.equal(code, 200);
    const config = await readKubeconfig(file);
    assert.equal(config.cert, undefined, 'the administrator’s certificate does not go along');
  });

  test('prints one command to run on the new node, with the address and the hash of the authority', async () => {
    await using at = await world();
    const made = await at.token('create', '--node-name', 'node-7', '--server', 'https://cp.example:6443');
    const [first = '', blank, ...facts] = made.stdout.split('\n');
    assert.match(
      first,
      /^nodeward join cp\.example:6443 --token [a-z0-9]{6}\.[a-z0-9]{16} --ca-hash sha256:[0-9a-f]{64} --node-name node-7$/,
    );
    assert.equal(blank, '');
    assert.ok(facts.length < 8, made.stdout);
    assert.match(made.stdout, /^ {2}server +https:\/\/cp\.example:6443$/m);
    assert.match(made.stdout, /^ {2}ca +sha256:[0-9a-f]{64}$/m);
    assert.match(made.stdout, /^ {2}nodes +node-7$/m);
    assert.doesNotMatch(made.stdout, /from this machine only|<</);
    const listed = await at.token('list', '-o', 'json');
    assert.deepEqual(JSON.parse(listed.stdout)[0].nodeNames, ['node-7']);
  });

  test('prints the kubeconfig alone, or all in JSON, for programs', async () => {
    await using at = await world();
    const kubeconfig = await at.token('create', '-o', 'kubeconfig');
    assert.match(kubeconfig.stdout, /^apiVersion: v1\nkind: Config\n/);
    const json = JSON.parse((await at.token('create', '-o', 'json', '--node-name', 'a,b')).stdout);
    assert.deepEqual(Object.keys(json), ['token', 'expires', 'server', 'caCertHash', 'command', 'nodeNames']);
    const spki = new X509Certificate(at.server.running.ca).publicKey.export({ type: 'spki', format: 'der' });
    assert.equal(json.caCertHash, `sha256:${createHash('sha256').update(spki).digest('hex')}`);
  });

  test('refuses names that no node can have, and makes nothing then', async () => {
    await using at = await world();
    for (const names of ['Node_1', 'a,,b', '']) {
      const refused = await at.token('create', '--node-name', names);
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /--node-name takes up to 100 names of nodes/);
    }
    assert.equal((await at.server.admin.list(bootstrapSecrets)).length, 0);
  });

  test('writes it for another address, and to standard output alone', async () => {
    await using at = await world();
    const made = await at.token('create', '--kubeconfig-out', '-', '--server', 'https://10.0.0.1:6443');
    assert.match(made.stdout, /^apiVersion: v1\n[\s\S]*server: "https:\/\/10\.0\.0\.1:6443"/);
  });

  test('refuses groups that would make more of a node than it is, and makes nothing then', async () => {
    await using at = await world();
    const refused = await at.token('create', '--groups', 'system:masters');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /"system:masters" is no group of bootstrap tokens/);
    assert.equal((await at.server.admin.list(bootstrapSecrets)).length, 0);
  });

  test('says which kubeconfig it misses', async () => {
    await using folder = await temporaryFolder();
    const end = await runCommandLine(['token', 'list', '--root-dir', folder.path]);
    assert.equal(end.code, 3);
    assert.match(end.stderr, /there is no .*admin\.kubeconfig; name .*--root-dir, or a kubeconfig/);
  });
});
