import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeviceAllocations } from '../../../../../src/agent/plugins/allocation/index.ts';
import { createDeviceAllocations } from '../../../../../src/agent/plugins/allocation/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import type { FakeInventory } from './fake-inventory.ts';
import { createFakeInventory, podWithUid } from './fake-inventory.ts';
import { heldOnDisk } from './support.ts';

const gpu = 'vendor.example/gpu';

interface Node extends AsyncDisposable {
  readonly allocations: DeviceAllocations;
  start(): Promise<void>;
  change(pods: Pod[], isComplete?: boolean): void;
}

function nodeWith(rootDir: string, inventory: FakeInventory): Node {
  let [pods, isComplete]: [Pod[], boolean] = [[], false];
  const listeners = new Set<(pods: readonly Pod[]) => void>();
  const allocations = createDeviceAllocations({
    rootDir,
    inventory,
    remember: () => undefined,
    pods: {
      pods: () => pods,
      onChange(listener) {
        listeners.add(listener);
        return { [Symbol.dispose]: () => void listeners.delete(listener) };
      },
    },
    isComplete: () => isComplete,
    clock: systemClock,
    log: silentLogger(),
  });
  const stop = new AbortController();
  let ended: Promise<void> | undefined;
  return {
    allocations,
    async start() {
      const ready = Promise.withResolvers<void>();
      ended = allocations.run(stop.signal, ready.resolve);
      await ready.promise;
    },
    change(next, nowComplete = true) {
      [pods, isComplete] = [next, nowComplete];
      for (const listener of [...listeners]) listener(next);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

test('who asks before the state file is read waits, and gets nothing that was given before', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a', 'b']);
  {
    await using before = nodeWith(folder.path, inventory);
    await before.start();
    await before.allocations.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1 });
  }
  await using node = nodeWith(folder.path, inventory);
  const asking = node.allocations.allocator.allocate(podWithUid('p2'), 'app', { [gpu]: 1 });
  await node.start();
  const { holdings } = await asking;
  assert.deepEqual(
    holdings.flatMap(({ devices }) => devices.map(({ id }) => id)),
    ['b'],
  );
  assert.deepEqual(await heldOnDisk(folder.path), [`p1/app: ${gpu} a`, `p2/app: ${gpu} b`]);
});

test('pods of before keep their devices until all pods are known; then those that are gone give them up', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a', 'b', 'c']);
  {
    await using before = nodeWith(folder.path, inventory);
    await before.start();
    for (const uid of ['p1', 'p2', 'p3'])
      await before.allocations.allocator.allocate(podWithUid(uid), 'app', { [gpu]: 1 });
  }
  await using node = nodeWith(folder.path, inventory);
  await node.start();
  node.change([podWithUid('p1')], false);
  assert.equal((await heldOnDisk(folder.path)).length, 3);
  assert.deepEqual(
    [...(node.allocations.users().get(gpu) ?? [])],
    [
      ['a', 'default/p1/app'],
      ['b', 'p2/app'],
      ['c', 'p3/app'],
    ],
  );
  node.change([podWithUid('p1'), { ...podWithUid('p3'), status: { phase: 'Succeeded' } }]);
  await waitFor('the devices of pods that are gone', async () => {
    assert.deepEqual(await heldOnDisk(folder.path), [`p1/app: ${gpu} a`]);
    return true;
  });
});

test('who still waits when the agent stops is refused', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  const asked = Promise.withResolvers<void>();
  inventory.offer(gpu, ['a'], {
    allocate: (_ids, cancel) => {
      asked.resolve();
      return new Promise((_resolve, reject) =>
        cancel.addEventListener('abort', () => reject(new Error('cut'))),
      );
    },
  });
  let asking: Promise<unknown>;
  {
    await using node = nodeWith(folder.path, inventory);
    await node.start();
    asking = node.allocations.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1 });
    asking.catch(() => undefined);
    await asked.promise;
  }
  await assert.rejects(asking, { reason: 'released' });
});
