/** Gives one device after another, below the root folder of its first argument, and tells each pod that has got its own. */
import { createFakeInventory, podWithUid } from './fake-inventory.ts';
import { startAllocator } from './support.ts';

const [, , rootDir = '', round = ''] = process.argv;
const inventory = createFakeInventory();
inventory.offer(
  'vendor.example/gpu',
  Array.from({ length: 2000 }, (_, index) => `d${index}`),
);
await using started = await startAllocator(rootDir, inventory);
for (let count = 1; ; count += 1) {
  const uids = [`r${round}-${count}a`, `r${round}-${count}b`];
  await Promise.all(
    uids.map(async (uid) => {
      const { holdings } = await started.allocator.allocate(podWithUid(uid), 'app', {
        'vendor.example/gpu': 1,
      });
      process.stdout.write(`${uid}/app: vendor.example/gpu ${holdings[0]?.devices[0]?.id}\n`);
    }),
  );
}
