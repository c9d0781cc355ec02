import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { DiskUsage } from '../../../../src/agent/usage/index.ts';
import { ephemeralUse, FolderSizes, PodDisks } from '../../../../src/agent/usage/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const pod: Pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: {
    containers: [
      { name: 'c', image: 'i' },
      { name: 'quiet', image: 'i' },
    ],
    volumes: [
      { name: 'scratch', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
      { name: 'host', hostPath: { path: '/' } },
    ],
  },
};
const layer: DiskUsage = { atMs: 1, usedBytes: 5000, inodes: 3 };

async function open(layers: () => Promise<ReadonlyMap<string, DiskUsage>>) {
  const folder = await temporaryFolder();
  const sizes = new FolderSizes({ clock: systemClock, log: silentLogger(), mountsBelow: () => [] });
  const disks = new PodDisks({
    sizes,
    layers,
    logFolder: ({ metadata }, container) => {
      if (container === 'quiet') throw new Error('no folder');
      return join(folder.path, 'logs', metadata?.uid ?? '', container);
    },
    emptyDirFolder: (uid, volume) => join(folder.path, 'volumes', uid, volume),
  });
  await mkdir(join(folder.path, 'logs/u1/c'), { recursive: true });
  await writeFile(join(folder.path, 'logs/u1/c/0.log'), Buffer.alloc(10_000, 1));
  for (const volume of ['scratch', 'memory'])
    await mkdir(join(folder.path, 'volumes/u1', volume), { recursive: true });
  return { disks, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe('what a pod has on disks', () => {
  test('is logs, writable layers and volumes of the kind emptyDir, but none in memory', async () => {
    await using lab = await open(async () => new Map([['id1', layer]]));
    const usages = await lab.disks.read([
      {
        pod,
        containerIds: new Map([
          ['c', 'id1'],
          ['quiet', 'id2'],
        ]),
      },
    ]);
    const usage = usages.get('u1');
    assert(usage !== undefined);
    assert.deepEqual([...usage.logs.keys()], ['c']);
    assert.deepEqual([...usage.emptyDirs.keys()], ['scratch']);
    assert.deepEqual([...usage.writableLayers], [['c', layer]]);
    const { usedBytes, inodes } = ephemeralUse(usage);
    assert.equal(inodes, 2 + 1 + 3);
    assert(usedBytes >= 15_000 && usedBytes < 50_000, `${usedBytes}`);
  });

  test('has no writable layers while the runtime does not answer', async () => {
    await using lab = await open(() => Promise.reject(new Error('away')));
    const usage = (await lab.disks.read([{ pod, containerIds: new Map([['c', 'id1']]) }])).get('u1');
    assert.equal(usage?.writableLayers.size, 0);
    assert.equal(usage?.logs.size, 1);
  });

  test('of no pod is answered without the runtime, which may hang', async () => {
    await using lab = await open(() => assert.fail('the runtime is asked'));
    assert.equal((await lab.disks.read([])).size, 0);
    await using hung = await open(() => new Promise(() => undefined));
    assert.equal((await hung.disks.read([])).size, 0);
  });
});
