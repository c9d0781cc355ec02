import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Lease } from '../../../src/api/index.ts';
import { leaseKind, StatusError } from '../../../src/api/index.ts';
import { openStore } from '../../../src/apiserver/storage/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../src/client/index.ts';

export const namespace = 'default';

export function lease(name: string, holder: string): Lease {
  return { metadata: { namespace, name }, spec: { holderIdentity: holder } };
}

/** By whoever is behind a kubeconfig. Answers the newest resourceVersion. */
export async function writeLeases(kubeconfig: string, many: number, name = 'object'): Promise<number> {
  await using api = await clientOf(kubeconfig);
  let newest = 0;
  const numbers = Array.from({ length: many }, (_none, index) => index).values();
  const writer = async () => {
    for (const number of numbers) {
      const { metadata } = await api.create(leaseKind, lease(`${name}-${number}`, `holder-${number}`));
      newest = Math.max(newest, Number(metadata?.resourceVersion));
    }
  };
  await Promise.all(Array.from({ length: 32 }, writer));
  return newest;
}

/** Into the store of a control plane that does not run, as that would have stored them. */
export async function storeLeases(root: string, many: number, padding = 0): Promise<void> {
  const folder = join(root, 'storage');
  await using store = await openStore({ kind: 'sqlite', folder, identity: { groupSuffix: 'k8s.io' } });
  const numbers = Array.from({ length: many }, (_none, index) => index).values();
  const writer = async () => {
    for (const number of numbers) {
      const name = `object-${number}`;
      const key = `/registry/leases/${namespace}/${name}`;
      const outcome = await store.commit({ key, expect: 0, value: stored(name, number, padding) });
      assert.ok(outcome.ok);
    }
  };
  await Promise.all(Array.from({ length: 512 }, writer));
}

function stored(name: string, number: number, padding: number): Buffer {
  const uid = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const annotations = padding > 0 ? { padding: 'x'.repeat(padding) } : {};
  const metadata = { name, namespace, uid, creationTimestamp: '2026-01-01T00:00:00Z', annotations };
  const spec = { holderIdentity: `holder-${number}` };
  return Buffer.from(JSON.stringify({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec }));
}

export async function countLeases(kubeconfig: string): Promise<number> {
  return (await namesOfLeases(kubeconfig)).length;
}

export async function namesOfLeases(kubeconfig: string): Promise<string[]> {
  await using api = await clientOf(kubeconfig);
  const { items } = await api.list(leaseKind, { namespace });
  return items.map(({ metadata }) => metadata?.name ?? '');
}

/** The refusal of a write; undefined when it was done. */
export async function refusalOfWrite(kubeconfig: string, name: string): Promise<StatusError | undefined> {
  await using api = await clientOf(kubeconfig);
  try {
    await api.create(leaseKind, lease(name, 'nobody'));
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}

export function assertHeld(refusal: StatusError | undefined, message: RegExp): void {
  assert.equal(refusal?.code, 503);
  assert.ok((refusal.details?.retryAfterSeconds ?? 0) > 0, 'with Retry-After');
  assert.match(refusal.message, message);
}

/**
 * A server goes on from a store that was at `old`: lists and writes are beyond `revision`, and whoever comes with a
 * version from before is told that it is too old.
 */
export async function goesOnFrom(
  kubeconfig: string,
  revision: number,
  old: number,
  name: string,
): Promise<void> {
  await using api = await clientOf(kubeconfig);
  const { items, metadata } = await api.list(leaseKind, { namespace });
  assert.ok(Number(metadata.resourceVersion) >= revision && items.length >= 300);
  for (const resourceVersion of [1, old, revision - 1].map(String)) {
    const watching = Array.fromAsync(api.watch(leaseKind, { namespace, resourceVersion }));
    await assert.rejects(watching, (error) => error instanceof StatusError && error.code === 410);
  }
  const one = await api.get(leaseKind, name, { namespace });
  assert.equal(one.spec?.holderIdentity, `holder-${name.replace(/\D+/, '')}`);
  const stale = { ...one, metadata: { ...one.metadata, resourceVersion: String(old) } };
  await assert.rejects(api.replace(leaseKind, stale), (error) => {
    return error instanceof StatusError && error.code === 409;
  });
  const made = await api.create(leaseKind, lease(`new-${revision}`, 'holder-0'));
  assert.ok(versionOf(made) > revision);
  const changed = await api.replace(leaseKind, { ...one, spec: { holderIdentity: 'another' } });
  assert.ok(versionOf(changed) > versionOf(made));
  await api.delete(leaseKind, name, { namespace });
}

function versionOf({ metadata }: Lease): number {
  return Number(metadata?.resourceVersion);
}

export async function clientOf(kubeconfig: string): Promise<ApiClient> {
  return new ApiClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
}
