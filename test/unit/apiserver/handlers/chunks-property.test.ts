import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ApiObject } from '../../../../src/api/index.ts';
import { leaseKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import type { ListWorld } from './list-world.ts';
import { listWorld } from './list-world.ts';

/*
 * Whatever is written between the chunks of a list, put together they are the state at the version that they all name:
 * every object of it that is meant, in the order of keys, none twice, each as it was then.
 */

interface Writing {
  namespace: string;
  name: string;
  colour: string;
  /** Put, or deleted when it is there. */
  put: boolean;
}

const writing = fc.record<Writing>({
  namespace: fc.constantFrom('default', 'other'),
  // in the order of UTF-8 bytes, which is not that of UTF-16 units nor of words
  name: fc.constantFrom('a', 'a-b', 'a.b', 'a0', 'b', 'b1', 'c', 'c10', 'c2', 'd', 'e', 'f'),
  colour: fc.constantFrom('red', 'green'),
  put: fc.boolean(),
});
const writings = fc.array(writing, { maxLength: 12 });

const selection = fc.constantFrom(
  { query: {}, means: () => true },
  {
    query: { labelSelector: 'colour=red' },
    means: ({ metadata }: ApiObject) => metadata?.labels?.['colour'] === 'red',
  },
  {
    query: { fieldSelector: 'metadata.namespace!=other' },
    means: ({ metadata }: ApiObject) => metadata?.namespace !== 'other',
  },
  {
    query: { fieldSelector: 'metadata.name=a', labelSelector: 'colour' },
    means: ({ metadata }: ApiObject) => metadata?.name === 'a',
  },
);

const context = { user: controlPlaneUser, dryRun: false };

async function write(world: ListWorld, { namespace, name, colour, put }: Writing): Promise<void> {
  const resource = world.registry.of(leaseKind);
  const isThere = world.storage.get(`/registry/leases/${namespace}/${name}`) !== undefined;
  const object = { metadata: { name, labels: { colour } } };
  if (put && isThere) {
    const { metadata, ...rest } = resource.encoding.read(resource.get(namespace, name));
    const next = { ...rest, metadata: { ...metadata, labels: { colour } }, spec: { holderIdentity: 'x' } };
    await resource.update(namespace, name, next, '', context);
  } else if (put) await resource.create(namespace, object, context);
  else if (isThere) await resource.delete(namespace, name, {}, context);
}

/** Remembers every state, by revision. */
function record({ storage, registry }: ListWorld): (revision: number) => readonly ApiObject[] {
  const { encoding } = registry.of(leaseKind);
  const now = new Map<string, ApiObject>();
  const states: { revision: number; objects: readonly ApiObject[] }[] = [];
  storage.follow('', ({ key, revision, next }) => {
    if (!key.startsWith('/registry/leases/')) return;
    if (next === null) now.delete(key);
    else now.set(key, encoding.readWhole(next));
    const objects = [...now].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    states.push({ revision, objects: objects.map(([, object]) => object) });
  });
  return (revision) => states.findLast((state) => state.revision <= revision)?.objects ?? [];
}

test('the chunks of a list are one state, whatever is written between them', async () => {
  await fc.assert(
    fc.asyncProperty(
      writings,
      fc.array(writings, { maxLength: 8 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom('', 'default', 'other'),
      selection,
      async (before, between, limit, namespace, { query, means }) => {
        await using world = await listWorld();
        const stateAt = record(world);
        for (const one of before) await write(world, one);
        const asked = { namespace, query: { ...query, limit: String(limit) } };
        let chunk = await world.list(leaseKind, asked);
        const { revision } = chunk;
        const expected = stateAt(revision).filter(
          (object) => means(object) && (namespace === '' || object.metadata?.namespace === namespace),
        );
        const objects = [...chunk.objects];
        const pauses = [...between];
        while (chunk.metadata.continue !== undefined) {
          assert.equal(chunk.objects.length, limit, 'a chunk that is not the last one is full');
          assertRemaining(chunk.metadata.remainingItemCount, expected.length - objects.length, query);
          // some writes are over before the next chunk, others go on beside it
          const writes = (pauses.shift() ?? []).map(async (one, index, all) => {
            const running = write(world, one).catch(() => undefined);
            if (index < all.length / 2) await running;
          });
          await Promise.all(writes);
          const token = chunk.metadata.continue;
          chunk = await world.list(leaseKind, { ...asked, query: { ...asked.query, continue: token } });
          assert.equal(chunk.revision, revision);
          objects.push(...chunk.objects);
        }
        assert.equal(chunk.metadata.remainingItemCount, undefined);
        assert.deepEqual(objects, expected);
      },
    ),
    { numRuns: 150 },
  );
});

function assertRemaining(told: number | undefined, left: number, query: object): void {
  const selects = Object.keys(query).length > 0;
  assert.equal(told, selects ? undefined : left);
}
