import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createDiskSpace } from '../../../../../src/agent/checkpoint/dump/disk-space.ts';
import { temporaryFolder } from '../../../../support/index.ts';

const mebibyte = 1024 * 1024;
const target = { namespace: 'shop', pod: 'web', container: 'main' };
const archives = { name: '/var/checkpoints', path: '/var/checkpoints' };
const dumps = { name: '/run', path: '/proc/1/root/run' };

/** Two file systems of 1000 MiB each, with so much free. */
function roomOn(freeMebibytes: { archives: number; dumps: number }) {
  return createDiskSpace(async (place) => ({
    ...place,
    device: place === dumps ? 2 : 1,
    freeBytes: (place === dumps ? freeMebibytes.dumps : freeMebibytes.archives) * mebibyte,
    sizeBytes: 1000 * mebibyte,
  }));
}

const order = (memoryMebibytes: number, reserve: { bytes: number } | { share: number } = { bytes: 0 }) => ({
  target,
  memoryBytes: memoryMebibytes * mebibyte,
  places: [archives, dumps],
  reserve,
});

describe('room on the disks', () => {
  test('is three times the memory, on each file system', async () => {
    using _taken = await roomOn({ archives: 300, dumps: 300 }).reserve(order(100));
    for (const [free, name] of [
      [{ archives: 299, dumps: 300 }, '/var/checkpoints'],
      [{ archives: 300, dumps: 299 }, '/run'],
    ] as const) {
      await assert.rejects(roomOn(free).reserve(order(100)), {
        reason: 'noRoom',
        message:
          `checkpointing of shop/web/main failed (not enough room where ${name} is: up to 300 MiB are needed, ` +
          '3 times the memory of the container, and 0 bytes must stay free, but 299 MiB are free)',
      });
    }
  });

  test('leaves a reserve, an amount or a share of the file system', async () => {
    const room = roomOn({ archives: 350, dumps: 350 });
    using _amount = await roomOn({ archives: 350, dumps: 350 }).reserve(order(100, { bytes: 50 * mebibyte }));
    await assert.rejects(room.reserve(order(100, { bytes: 51 * mebibyte })), /51\.0 MiB must stay free/);
    await assert.rejects(room.reserve(order(100, { share: 0.051 })), { reason: 'noRoom' });
    using _share = await room.reserve(order(100, { share: 0.05 }));
  });

  test('counts those that are under way, until they have ended', async () => {
    const room = roomOn({ archives: 1000, dumps: 500 });
    {
      using first = await room.reserve(order(100));
      await assert.rejects(
        room.reserve(order(100)),
        /but 500 MiB are free, 300 MiB of it may go to checkpoints under way/,
      );
      first[Symbol.dispose](); // a second end counts no more
    }
    using _next = await room.reserve(order(100));
    await assert.rejects(room.reserve(order(100)), { reason: 'noRoom' });
  });

  test('several that begin at the same time do not all get the same room', async () => {
    const room = roomOn({ archives: 1000, dumps: 700 });
    const taken = await Promise.allSettled([1, 2, 3, 4].map(() => room.reserve(order(100))));
    assert.equal(taken.filter(({ status }) => status === 'fulfilled').length, 2);
  });

  test('is looked for on the real disk, also where the folder is yet to be made', async () => {
    await using folder = await temporaryFolder();
    const place = { name: 'x', path: join(folder.path, 'not/yet') };
    const small = { target, memoryBytes: 1, places: [place], reserve: { bytes: 0 } };
    using _taken = await createDiskSpace().reserve(small);
    await assert.rejects(createDiskSpace().reserve({ ...small, memoryBytes: 2 ** 60 }), { reason: 'noRoom' });
  });
});
