/** The built program on an etcd that a kube-apiserver has used, and one that it goes on using. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ApiObject, Kind } from '../../src/api/index.ts';
import { leaseKind, namespaceKind, secretKind } from '../../src/api/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import { RawEtcd } from '../contract/storage/etcd-raw.ts';
import { encryptedValue, protobufValue } from '../contract/storage/shared-values.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { LabEtcd } from './lab/etcd.ts';
import { startEtcd } from './lab/etcd.ts';
import { MigratedEtcd, migrate, migrated } from './migrating/command.ts';
import { nodeward, startApiServer } from './nodeward/index.ts';

const leader = { namespace: 'kube-system', name: 'nodeward-controllers' };

let etcd: LabEtcd;
let raw: RawEtcd;
before(async () => {
  await ensureBuilt();
  etcd = await startEtcd();
  raw = new RawEtcd(etcd.urls[0] ?? '');
});
after(async () => {
  raw[Symbol.dispose]();
  await etcd[Symbol.asyncDispose]();
});

async function clientOf(kubeconfig: string): Promise<ApiClient> {
  return new ApiClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
}

const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

function protobufNamespaces(prefix: string) {
  return systemNamespaces.map((name) => {
    const namespace = { metadata: { name, uid: `uid-of-${name}` }, spec: { finalizers: ['kubernetes'] } };
    return [`${prefix}/namespaces/${name}`, protobufValue(namespaceKind, namespace)] as const;
  });
}

const gold = {
  metadata: { name: 'gold', namespace: 'default', uid: 'uid-of-gold' },
  type: 'Opaque',
  data: { key: Buffer.from('gold').toString('base64') },
};

/** The system namespaces and a Secret, each at a revision of its own as a kube-apiserver writes them. */
async function putInProtobuf(prefix: string): Promise<void> {
  for (const pair of protobufNamespaces(prefix)) await raw.put(pair);
  await raw.put([`${prefix}/secrets/default/gold`, protobufValue(secretKind, gold)]);
}

/** What the program has stored under a key, which must be JSON. */
async function stored(key: string): Promise<ApiObject & { spec?: Record<string, unknown> }> {
  const [line = ''] = (await raw.list(key)).filter((each) => each.startsWith(`${key}=`));
  return JSON.parse(line.slice(key.length + 1));
}

async function rewriteInProtobuf<T extends ApiObject>(kind: Kind<T>, key: string, object: T) {
  const { resourceVersion: _version, ...metadata } = object.metadata ?? {};
  return await raw.put([key, protobufValue(kind, { ...object, metadata })]);
}

describe('a control plane on the etcd of a kube-apiserver', { timeout: 180_000 }, () => {
  test('starts on one that is protobuf from the beginning; the leader goes on when its Lease is rewritten', async () => {
    await using home = await temporaryFolder('shared-etcd-');
    const place = new MigratedEtcd(etcd);
    const { prefix } = place;
    await putInProtobuf(prefix);
    await using server = await startApiServer(join(home.path, 'a'), { args: place.args });
    await using client = await clientOf(server.kubeconfig);
    const { metadata, data } = await client.get(secretKind, 'gold', { namespace: 'default' });
    assert.deepEqual([metadata?.uid, data], ['uid-of-gold', gold.data]);
    assert.equal((await client.get(namespaceKind, 'default', {})).metadata?.uid, 'uid-of-default');

    const key = `${prefix}/leases/${leader.namespace}/${leader.name}`;
    const lease = await waitFor('a leader', () =>
      client.get(leaseKind, leader.name, leader).catch(() => undefined),
    );
    await rewriteInProtobuf(leaseKind, key, lease);
    const renewed = await waitFor('its next renewal, in JSON', async () =>
      (await raw.list(key)).some((line) => line.includes('"renewTime"')),
    );
    assert.ok(renewed);
    assert.equal((await stored(key)).spec?.['holderIdentity'], lease.spec?.holderIdentity);
    assert.doesNotMatch(server.process.stderr, /leading no more/);
  });

  test('does not start where a namespace that it needs is encrypted, and says why', async () => {
    await using home = await temporaryFolder('shared-etcd-');
    const place = new MigratedEtcd(etcd);
    await raw.put([`${place.prefix}/namespaces/kube-system`, encryptedValue()]);
    const root = ['--root-dir', join(home.path, 'a'), '--secure-port', '0'];
    const ended = await nodeward(['apiserver', ...root, ...place.args]);
    assert.equal(ended.code, 3, ended.stderr);
    assert.match(
      ended.stderr,
      /cannot start: \/registry\/namespaces\/kube-system in the store cannot be read: it is encrypted \(k8s:enc:aescbc\)/,
    );
  });

  test('what cannot be read is refused by its name, and readable again when it is stored again', async () => {
    await using home = await temporaryFolder('shared-etcd-');
    const place = new MigratedEtcd(etcd);
    const key = `${place.prefix}/secrets/default/gold`;
    await raw.put([key, encryptedValue()]);
    await using server = await startApiServer(join(home.path, 'a'), { args: place.args });
    await using client = await clientOf(server.kubeconfig);
    const get = () => client.get(secretKind, 'gold', { namespace: 'default' });
    await assert.rejects(get(), {
      code: 500,
      message: /\/registry\/secrets\/default\/gold, but cannot be read: it is encrypted/,
    });
    await server.process.waitForOutput(/secrets\/default\/gold.*cannot be read/);
    await raw.put([key, protobufValue(secretKind, gold)]);
    assert.equal((await get()).metadata?.uid, 'uid-of-gold');
  });
});

describe('nodeward storage migrate from the etcd of a kube-apiserver', { timeout: 180_000 }, () => {
  test('carries objects in protobuf; refuses those that it cannot read, and leaves everything as it is', async () => {
    await using home = await temporaryFolder('shared-etcd-');
    const place = new MigratedEtcd(etcd);
    const { prefix } = place;
    await putInProtobuf(prefix);
    {
      await using _made = await startApiServer(join(home.path, 'a'), { args: place.args });
    }
    for (const [key, value, why] of [
      [
        'secrets/default/hidden',
        encryptedValue(),
        /secrets\/default\/hidden in etcd cannot be moved: it is encrypted/,
      ],
      [
        'leasecandidates/default/d',
        Buffer.from('k8s\0\x0a\x00'),
        /leasecandidates\/default\/d in etcd cannot be moved: .*not served here/,
      ],
    ] as const) {
      const before = await raw.put([`${prefix}/${key}`, value]);
      const refused = await migrate(place.to(join(home.path, 'refused')));
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, why);
      assert.ok(before > 0);
      await raw.remove(`${prefix}/${key}`);
    }
    const target = join(home.path, 'b');
    const moved = await migrated(place.to(target));
    assert.ok(moved.objects > 5);
    assert.ok((await readdir(join(target, 'storage'))).includes('store.sqlite'));
    await using server = await startApiServer(target);
    await using client = await clientOf(server.kubeconfig);
    const { metadata, data } = await client.get(secretKind, 'gold', { namespace: 'default' });
    assert.deepEqual([metadata?.uid, data], ['uid-of-gold', gold.data]);
  });
});
