import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Pod } from '../../../../../src/api/index.ts';
import { listPodReferences, namespaceKind, podKind } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { PodsByNode, referenceKey } from '../../../../../src/apiserver/authz/node/pods-by-node.ts';
import type { Registry, Resource } from '../../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';

const context = { user: controlPlaneUser, dryRun: false };
const nodes = ['a', 'b'];
const places = ['x', 'y'];
const maps = ['s1', 's2', 's3'];

async function world() {
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  return { registry, pods: registry.of(podKind), [Symbol.asyncDispose]: () => storage.close() };
}

interface Wanted {
  name: string;
  place: string;
  node: string;
  map: string;
  mirror: boolean;
  label: string;
}

function podOf({ name, place, node, map, mirror, label }: Wanted): Pod {
  return {
    metadata: {
      name,
      namespace: place,
      labels: { nodeName: label }, // which looks like the pod's node to whoever does not parse it
      ...(mirror ? { annotations: { 'kubernetes.io/config.mirror': 'm' } } : {}),
    },
    spec: {
      containers: [{ name: 'main', image: 'app:1', envFrom: [{ configMapRef: { name: map } }] }],
      automountServiceAccountToken: false,
      ...(node === '' ? {} : { nodeName: node }),
    },
  };
}

/** Looked up in all pods each time. */
function naively({ pods }: { pods: Resource<Pod> }, node: string, place: string, reference: string): boolean {
  return pods.storage.list(pods.prefix(place), '', 0).items.some((stored) => {
    const pod = pods.encoding.read(stored);
    const isMirror = pod.metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined;
    return (
      pod.spec?.nodeName === node &&
      !isMirror &&
      listPodReferences(pod).some((each) => referenceKey(each) === reference)
    );
  });
}

async function apply(pods: Resource<Pod>, wanted: Wanted, act: string): Promise<void> {
  const found = pods.storage.get(pods.prefix(wanted.place) + wanted.name);
  if (found === undefined) await pods.create(wanted.place, podOf(wanted), context);
  else if (act === 'delete') {
    await pods.delete(wanted.place, wanted.name, { gracePeriodSeconds: 0 }, context);
  } else {
    const status = { phase: 'Running', message: act };
    await pods.update(wanted.place, wanted.name, { ...pods.encoding.read(found), status }, 'status', context);
  }
}

const wanted = fc.record({
  name: fc.constantFrom('p1', 'p2', 'p3'),
  place: fc.constantFrom(...places),
  node: fc.constantFrom('', ...nodes),
  map: fc.constantFrom(...maps),
  mirror: fc.boolean(),
  label: fc.constantFrom(...nodes),
});
const step = fc.tuple(wanted, fc.constantFrom('delete', 'one', 'two'), fc.boolean());

test('a node may read what its pods name at the moment, whatever became of them before', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
    await using at = await world();
    await makeNamespaces(at.registry);
    const index = new PodsByNode(at.registry);
    for (const [pod, act, isAsked] of steps) {
      await apply(at.pods, pod, act);
      if (!isAsked) continue;
      for (const node of nodes)
        for (const place of places)
          for (const map of maps) {
            const reference = `configmaps/${map}`;
            const told = index.names(node, place, reference);
            assert.equal(await told, naively(at, node, place, reference), `${node} ${place} ${reference}`);
          }
    }
  });
  await fc.assert(property, { numRuns: 150 });
});

test('pods that were there before are known, and very many are looked at without holding up others', async () => {
  await using at = await world();
  await makeNamespaces(at.registry);
  const one = { place: 'x', node: 'a', mirror: false, label: 'b' };
  for (let count = 0; count < 500; count++) {
    await at.pods.create('x', podOf({ ...one, name: `p${count}`, map: `s${count}` }), context);
  }
  const index = new PodsByNode(at.registry);
  const answer = index.names('a', 'x', 'configmaps/s499');
  assert.ok(answer instanceof Promise);
  await at.pods.delete('x', 'p0', { gracePeriodSeconds: 0 }, context);
  assert.equal(await answer, true);
  assert.equal(index.names('a', 'x', 'configmaps/s1'), true);
  assert.equal(index.names('a', 'x', 'configmaps/s0'), false);
  assert.equal(index.names('a', 'y', 'configmaps/s1'), false);
});

test('a pod that seems to name very many nodes costs no more than another one', async () => {
  await using at = await world();
  await makeNamespaces(at.registry);
  const index = new PodsByNode(at.registry);
  const pod = podOf({ name: 'p', place: 'x', node: 'a', map: 's1', mirror: false, label: 'b' });
  const volumes = Array.from({ length: 5_000 }, (_, at) => ({
    name: `v${at}`,
    csi: { driver: 'd', volumeAttributes: { nodeName: `n${at}` } },
  }));
  await at.pods.create(
    'x',
    { ...pod, spec: { ...pod.spec, containers: pod.spec?.containers ?? [], volumes } },
    context,
  );
  assert.equal(index.size, 1);
  assert.equal(index.names('a', 'x', 'configmaps/s1'), true);
  assert.equal(index.names('n1', 'x', 'configmaps/s1'), false);
  await at.pods.delete('x', 'p', { gracePeriodSeconds: 0 }, context);
  assert.equal(index.names('a', 'x', 'configmaps/s1'), false);
  assert.equal(index.size, 0);
});

async function makeNamespaces(registry: Registry): Promise<void> {
  for (const name of places) await registry.of(namespaceKind).create('', { metadata: { name } }, context);
}
