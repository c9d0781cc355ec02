import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject } from '../../../../src/api/index.ts';
import { namespaceKind, StatusError } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import type { Registry, Resource } from '../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { Outcome, Write } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { FaultyStore } from '../../../contract/storage/faulty-store.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** A store in which somebody else comes first. */
class RacingStore extends FaultyStore {
  /** What happens to a key between the moment when the next write of it is made and the moment when it is compared. */
  comesFirst: 'deletion' | 'deletion and creation' | undefined;
  races = 0;

  override async commit(write: Write): Promise<Outcome> {
    const what = this.comesFirst;
    this.comesFirst = undefined;
    if (what === undefined) return await super.commit(write);
    this.races++;
    const deleted = await super.commit({ ...write, value: null });
    assert.ok(deleted.ok);
    if (what === 'deletion and creation') {
      const made = await super.commit({ ...write, expect: 0, value: write.previous?.value ?? null });
      assert.ok(made.ok);
    }
    return await super.commit(write);
  }
}

async function prepare() {
  const clock = systemClock;
  const store = new RacingStore(await openStore({ kind: 'memory', clock }));
  const storage = await createCache(store, { clock });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  await registry.of(namespaceKind).create('', { metadata: { name: 'default' } }, context);
  return { store, registry, [Symbol.asyncDispose]: () => storage.close() };
}

/** One kind in a namespace and one without. */
const kinds: readonly { kind: string; namespace: string }[] = [
  { kind: 'ConfigMap', namespace: 'default' },
  { kind: 'Node', namespace: '' },
];

function resourceOf(registry: Registry, kind: string): Resource {
  const resource = registry.resources.find((one) => one.kind.kind === kind);
  assert.ok(resource);
  return resource;
}

async function made(resource: Resource, namespace: string): Promise<ApiObject> {
  return resource.encoding.read(await resource.create(namespace, { metadata: { name: 'a' } }, context));
}

function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'NotFound' && error.code === 404;
}

for (const { kind, namespace } of kinds) {
  describe(`a ${kind} that is deleted by somebody else meanwhile`, () => {
    const changed = (object: ApiObject, resourceVersion?: string): ApiObject => {
      const { resourceVersion: known, ...metadata } = object.metadata ?? {};
      const version = resourceVersion ?? known;
      const labels = { changed: 'yes' };
      return {
        ...object,
        metadata: { ...metadata, labels, ...(version ? { resourceVersion: version } : {}) },
      };
    };

    test('is not found by a PUT, with a version or without', async () => {
      for (const version of [undefined, '']) {
        await using world = await prepare();
        const resource = resourceOf(world.registry, kind);
        const object = await made(resource, namespace);
        world.store.comesFirst = 'deletion';
        const put = resource.update(namespace, 'a', changed(object, version), '', context);
        await assert.rejects(put, isNotFound);
        assert.equal(world.store.races, 1);
      }
    });

    test('is not found by a DELETE, with preconditions or without', async () => {
      for (const withUid of [true, false]) {
        await using world = await prepare();
        const resource = resourceOf(world.registry, kind);
        const object = await made(resource, namespace);
        const uid = object.metadata?.uid;
        world.store.comesFirst = 'deletion';
        const deletion = withUid && uid !== undefined ? { uid } : {};
        const deleted = resource.delete(namespace, 'a', deletion, context);
        await assert.rejects(deleted, isNotFound);
        assert.equal(world.store.races, 1);
      }
    });

    test('and made again is a conflict for a PUT that knows the first one', async () => {
      await using world = await prepare();
      const resource = resourceOf(world.registry, kind);
      const object = await made(resource, namespace);
      world.store.comesFirst = 'deletion and creation';
      const put = resource.update(namespace, 'a', changed(object), '', context);
      await assert.rejects(put, (error) => error instanceof StatusError && error.reason === 'Conflict');
      assert.equal(world.store.races, 1);
    });
  });
}
