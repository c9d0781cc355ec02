import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Layout } from '../../../../src/agent/eviction/file-systems.ts';
import { FileSystems, partsOn, sparesOn } from '../../../../src/agent/eviction/file-systems.ts';
import type { EvictionSignal } from '../../../../src/agent/node/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const { signal } = new AbortController();

describe('which file systems are one', () => {
  const layoutOf = async (
    devices: Readonly<Record<string, number>>,
    images?: string,
    containers?: string,
  ) => {
    const fileSystems = new FileSystems({
      ...{ rootDir: '/root', clock: createManualClock() },
      runtimeDisks: () => ({ images, containers }),
      async deviceOf(path) {
        const device = devices[path];
        if (device === undefined) throw new Error('there is no such folder');
        return device;
      },
    });
    return await fileSystems.layout(signal);
  };
  const cases: [Layout, Readonly<Record<string, number>>, (string | undefined)?, (string | undefined)?][] = [
    ['shared', { '/root': 1, '/i': 1 }, '/i', '/i'],
    ['images', { '/root': 1, '/i': 2 }, '/i', '/i'],
    ['images', { '/root': 1, '/i': 2 }, '/i', undefined],
    ['split', { '/root': 1, '/i': 2, '/c': 1 }, '/i', '/c'],
    ['shared', { '/root': 1 }, undefined, undefined],
    ['shared', { '/root': 1 }, '/missing', '/missing'],
  ];
  for (const [expected, devices, images, containers] of cases)
    test(`${expected}: ${JSON.stringify(devices)}`, async () => {
      assert.equal(await layoutOf(devices, images, containers), expected);
    });

  test('one that hangs is asked once and holds nobody up', async () => {
    const clock = createManualClock();
    const asked: string[] = [];
    const hung = Promise.withResolvers<number>();
    const fileSystems = new FileSystems({
      ...{ rootDir: '/root', clock },
      runtimeDisks: () => ({ images: '/i', containers: '/i' }),
      async deviceOf(path) {
        asked.push(path);
        return path === '/i' ? await hung.promise : 1;
      },
    });
    for (const _ of [1, 2]) {
      const layout = fileSystems.layout(signal);
      await clock.advance(2000);
      assert.equal(await layout, 'shared');
    }
    assert.deepEqual(asked, ['/root', '/i']);
    hung.resolve(2);
    await clock.advance(0);
    assert.equal(await fileSystems.layout(signal), 'images');
  });
});

test('what lies on a file system, and what is removed there first', () => {
  const both = (name: EvictionSignal, layout: Layout) => [
    partsOn(name, layout).join(),
    sparesOn(name, layout).join(),
  ];
  const all = 'layers,logs,volumes';
  assert.deepEqual(both('nodefs.available', 'shared'), [all, 'containers,images']);
  assert.deepEqual(both('imagefs.inodesFree', 'shared'), [all, 'containers,images']);
  assert.deepEqual(both('nodefs.available', 'images'), ['logs,volumes', '']);
  assert.deepEqual(both('imagefs.available', 'images'), ['layers', 'containers,images']);
  assert.deepEqual(both('containerfs.available', 'images'), ['layers', 'containers,images']);
  assert.deepEqual(both('nodefs.inodesFree', 'split'), [all, 'containers']);
  assert.deepEqual(both('containerfs.available', 'split'), [all, 'containers']);
  assert.deepEqual(both('imagefs.available', 'split'), ['', 'images']);
  for (const name of ['memory.available', 'pid.available'] as const)
    assert.deepEqual(sparesOn(name, 'shared'), []);
});
