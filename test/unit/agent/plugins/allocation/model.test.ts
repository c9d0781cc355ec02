import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { AllocationError } from '../../../../../src/agent/plugins/allocation/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import type { FakeInventory } from './fake-inventory.ts';
import { createFakeInventory, podWithUid } from './fake-inventory.ts';
import type { StartedAllocator } from './support.ts';
import { heldOnDisk, startAllocator } from './support.ts';

const resource = 'vendor.example/gpu';
const ids = ['d0', 'd1', 'd2', 'd3', 'd4', 'd5'];
const devices = ids.map((id, index): [string, number] => [id, index % 2]);
const pods = ['p0', 'p1', 'p2'];
const containers = ['init', 'app', 'second'];

type Step =
  | { does: 'allocate'; asks: { pod: string; container: string; count: number }[] }
  | { does: 'release'; pod: string }
  | { does: 'reconcile'; living: string[] }
  | { does: 'health'; id: string; healthy: boolean }
  | { does: 'leave' | 'return' | 'restart' };

const ask = fc.record({
  pod: fc.constantFrom(...pods),
  container: fc.constantFrom(...containers),
  count: fc.integer({ min: 1, max: 4 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(ask, { minLength: 1, maxLength: 4 })
      .map((asks) => ({ does: 'allocate', asks }) as const),
  },
  { weight: 2, arbitrary: fc.constantFrom(...pods).map((pod) => ({ does: 'release', pod }) as const) },
  { weight: 1, arbitrary: fc.subarray(pods).map((living) => ({ does: 'reconcile', living }) as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('health' as const),
      id: fc.constantFrom(...ids),
      healthy: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom('leave', 'return', 'restart').map((does) => ({ does }) as const) },
);

/** Who holds what, as simply as it can be said. */
class Model {
  held = new Map<string, string[]>();
  healthy = new Set(ids);
  isHere = true;

  /** How many devices the container could get now. */
  room(pod: string, container: string): number {
    const taken = new Set(
      this.entries().flatMap(([key, given]) =>
        key === `${pod}/init` && container !== 'init' && !this.#inherited(pod, given) ? [] : given,
      ),
    );
    const lent =
      container === 'init' ? [] : (this.held.get(`${pod}/init`) ?? []).filter((id) => !this.#runs(pod, id));
    for (const id of lent) taken.delete(id);
    return this.isHere ? [...this.healthy].filter((id) => !taken.has(id)).length : 0;
  }

  entries(): [string, string[]][] {
    return [...this.held];
  }

  #inherited(pod: string, given: string[]): boolean {
    return given.some((id) => this.#runs(pod, id));
  }

  #runs(pod: string, id: string): boolean {
    return ['app', 'second'].some((container) => this.held.get(`${pod}/${container}`)?.includes(id));
  }

  drop(isGone: (pod: string) => boolean): void {
    for (const key of [...this.held.keys()]) if (isGone(key.split('/')[0] ?? '')) this.held.delete(key);
  }
}

test('whatever is asked, no device has two pods, none is given unhealthy, and the file says what memory says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await using folder = await temporaryFolder();
      const model = new Model();
      let world = await start(folder.path);
      try {
        for (const each of steps) {
          if (each.does === 'restart') {
            await world.started[Symbol.asyncDispose]();
            world = await start(folder.path);
            model.healthy = new Set(ids);
            model.isHere = true;
          } else {
            await take(each, world, model);
          }
          await compare(folder.path, world, model);
        }
      } finally {
        await world.started[Symbol.asyncDispose]();
      }
    }),
    { numRuns: 120 },
  );
});

interface World {
  inventory: FakeInventory;
  started: StartedAllocator;
}

async function start(rootDir: string): Promise<World> {
  const inventory = createFakeInventory();
  inventory.offer(resource, devices, {
    options: { preferredAllocation: true },
    preferred: async ({ available, size }) => available.slice(-size), // may leave out what must be there
  });
  return { inventory, started: await startAllocator(rootDir, inventory, { writeFile: replaceUnsynced }) };
}

async function take(each: Exclude<Step, { does: 'restart' }>, { inventory, started }: World, model: Model) {
  const { allocator } = started;
  switch (each.does) {
    case 'allocate':
      return await allocateAll(each.asks, { inventory, started }, model);
    case 'release':
      model.drop((pod) => pod === each.pod);
      return await allocator.release(each.pod);
    case 'reconcile':
      await allocator.reconcile(new Set(pods)); // now all are known
      model.drop((pod) => !each.living.includes(pod));
      return await allocator.reconcile(new Set(each.living));
    case 'health':
      if (!model.isHere) return;
      model.healthy[each.healthy ? 'add' : 'delete'](each.id);
      return inventory.health(resource, each.id, each.healthy);
    case 'leave':
      model.isHere = false;
      return inventory.leave(resource);
    case 'return':
      model.isHere = true;
      model.healthy = new Set(ids);
      return inventory.offer(resource, devices);
  }
}

/** At once; with a single one it is also known whether there is room. */
async function allocateAll(
  asks: { pod: string; container: string; count: number }[],
  { started }: World,
  model: Model,
): Promise<void> {
  const room = asks.map(({ pod, container }) => model.room(pod, container));
  const before = new Map(model.held);
  const answers = await Promise.allSettled(
    asks.map(({ pod, container, count }) =>
      started.allocator.allocate(podWithUid(pod), container, { [resource]: count }),
    ),
  );
  for (const [index, answer] of answers.entries()) {
    const { pod = '', container = '', count = 0 } = asks[index] ?? {};
    const key = `${pod}/${container}`;
    if (answer.status === 'rejected') {
      assert.ok(answer.reason instanceof AllocationError, String(answer.reason));
      const hadRoom = !before.has(key) && (room[index] ?? 0) >= count;
      assert.ok(asks.length > 1 || !hadRoom, `refused although there is room: ${answer.reason.message}`);
      continue;
    }
    const given = answer.value.holdings.flatMap((holding) => holding.devices.map(({ id }) => id));
    assert.equal(new Set(given).size, count);
    assert.ok(
      given.every((id) => model.healthy.has(id) && model.isHere),
      `given unhealthy: ${given}`,
    );
    if (before.has(key)) assert.deepEqual(given, before.get(key), 'not what it had');
    model.held.set(key, given);
  }
}

async function compare(rootDir: string, { started }: World, model: Model): Promise<void> {
  const owners = new Map<string, string>();
  const lines: string[] = [];
  for (const [key, given] of model.entries()) {
    const [pod = '', container = ''] = key.split('/');
    const { holdings } = started.allocator.held(pod, container);
    assert.deepEqual(
      holdings.flatMap((holding) => holding.devices.map(({ id }) => id)),
      given,
    );
    for (const id of given) {
      const owner = container === 'init' ? pod : `${pod}/${container}`;
      const other = owners.get(id) ?? owner;
      assert.ok(other.split('/')[0] === pod, `${id} has ${other} and ${key}`);
      assert.ok(!(other.includes('/') && owner.includes('/') && other !== owner), `${id}: ${other}, ${key}`);
      owners.set(id, owner.includes('/') ? owner : other);
    }
    lines.push(`${key}: ${resource} ${[...given].sort().join(',')}`);
  }
  assert.deepEqual(await heldOnDisk(rootDir).catch(() => []), lines.sort());
}

/** What a power cut leaves is shown elsewhere, and thousands of syncs take their time. */
async function replaceUnsynced(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
