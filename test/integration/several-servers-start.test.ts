/** Servers that start at once on an etcd that is empty, and those that do not belong there. */
import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { clusterRoleKind, namespaceKind, serviceAccountKind } from '../../src/api/index.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import { temporaryFolder } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { startEtcd } from './lab/index.ts';
import type { RunningApiServer } from './nodeward/index.ts';
import { startApiServer, untilAtRest } from './nodeward/index.ts';

before(ensureBuilt);

/** What all servers of one control plane have in common; each makes the rest for itself. */
const sharedFiles = ['ca.crt', 'ca.key', 'sa.key'];

test('three servers start at once on an empty etcd', { timeout: 180_000 }, async (t) => {
  await using home = await temporaryFolder('start-at-once-');
  await using etcd = await startEtcd();
  const argsFor = (prefix: string) => [
    ...['--storage', 'etcd', '--etcd-servers', etcd.urls.join(), '--etcd-prefix', prefix],
  ];
  const made = join(home.path, 'made');
  const mark = { metadata: { name: 'by-the-first', namespace: 'default' } };
  {
    await using server = await startApiServer(made, { args: argsFor('/used') });
    await using client = await clientOf(server);
    await client.create(configMapKind, mark);
  }
  const rootOf = async (name: string): Promise<string> => {
    const root = join(home.path, name);
    await mkdir(join(root, 'pki'), { mode: 0o700, recursive: true });
    for (const file of sharedFiles) await cp(join(made, 'pki', file), join(root, 'pki', file));
    return root;
  };

  for (const round of [1, 2]) {
    await t.test(`(time ${round}): all serve, and what each must find is there once`, async () => {
      await using held = new AsyncDisposableStack();
      const roots = await Promise.all([1, 2, 3].map((server) => rootOf(`round-${round}-${server}`)));
      const args = argsFor(`/round-${round}`);
      const servers = await Promise.all(roots.map((root) => startApiServer(root, { args })));
      for (const server of servers) held.use(server);
      const clients = await Promise.all(servers.map(clientOf));
      for (const client of clients) held.use(client);
      const [first, ...others] = clients;
      assert.ok(first);
      const namespaces = await first.list(namespaceKind);
      const names = namespaces.items.map(({ metadata }) => metadata?.name);
      for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
        assert.ok(names.includes(name));
      for (const client of clients) await client.get(clusterRoleKind, 'cluster-admin');
      await untilAtRest(first); // the one leader works on after all of them serve
      const { items: roles } = await first.list(clusterRoleKind);
      for (const client of others) assert.deepEqual((await client.list(clusterRoleKind)).items, roles);
      for (const { process } of servers) {
        assert.doesNotMatch(process.stderr, /could not be brought up to date/);
      }
      const { ca, token } = await accountMadeBy(first, servers[0]?.kubeconfig ?? '');
      for (const { url } of servers) {
        await using elsewhere = new ApiClient({ server: url, ca, token });
        const { code, body } = await elsewhere.request({ method: 'GET', path: '/api/v1/namespaces' });
        assert.equal(code, 403, body); // known, and may not
      }
      const leaders = await Promise.all(clients.map(leads));
      assert.equal(leaders.filter(Boolean).length, 1);
      for (const [index, client] of clients.entries()) {
        await client.create(configMapKind, { metadata: { name: `by-${index}`, namespace: 'default' } });
      }
    });
  }

  await t.test('one with another group suffix is refused, and nothing is changed', async () => {
    const root = await rootOf('other-suffix');
    const args = [...argsFor('/used'), '--group-suffix', 'example.com'];
    await assert.rejects(startApiServer(root, { args }), /is for the group suffix k8s\.io, not example\.com/);
  });

  await t.test(
    'one with other keys of service accounts and another authority is still one of its own',
    async () => {
      // nothing of an authority is in the store, so it serves; that its credentials are good nowhere else is its operator's
      await using other = await startApiServer(join(home.path, 'other-keys'), { args: argsFor('/used') });
      await using client = await clientOf(other);
      await client.get(configMapKind, mark.metadata.name, { namespace: mark.metadata.namespace });
    },
  );
});

async function clientOf({ kubeconfig }: RunningApiServer): Promise<ApiClient> {
  return new ApiClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
}

async function leads(client: ApiClient): Promise<boolean> {
  const { body } = await client.request({ method: 'GET', path: '/metrics' });
  return /^leader_election_master_status\{name="nodeward-controllers"\} 1$/m.test(body);
}

/** A service account that was made this moment, with a token. */
async function accountMadeBy(client: ApiClient, kubeconfig: string): Promise<{ ca: string; token: string }> {
  const { ca } = clientOptionsOf(await readKubeconfig(kubeconfig));
  await client.create(serviceAccountKind, { metadata: { name: 'new', namespace: 'default' } });
  const { code, body } = await client.request({
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts/new/token',
    body: JSON.stringify({ kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} }),
  });
  assert.equal(code, 201, body);
  const { status } = JSON.parse(body);
  return { ca, token: String(status.token) };
}
