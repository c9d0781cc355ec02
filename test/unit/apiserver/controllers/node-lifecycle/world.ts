import { setImmediate as turn } from 'node:timers/promises';
import type { Node, NodeCondition, Pod, Taint } from '../../../../../src/api/index.ts';
import { eventKind, leaseKind, namespaceKind, nodeKind, podKind } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import type { NodeLifecycleSettings } from '../../../../../src/apiserver/controllers/index.ts';
import { nodeLifecycle } from '../../../../../src/apiserver/controllers/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import type { CachedStore } from '../../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

const context = { user: controlPlaneUser, dryRun: false };
const leaseNamespace = 'kube-node-lease';
/** Where the pods are. */
const workloads = 'workloads';
export const secondMs = 1000;

export type World = Awaited<ReturnType<typeof openWorld>>;
type Tolerations = NonNullable<Pod['spec']>['tolerations'];

interface Options {
  settings?: NodeLifecycleSettings;
  /** What the controller sees as the store; default the store itself. */
  seen?: (storage: CachedStore) => CachedStore;
}

/** Nodes and pods on a store whose time the test holds. Nodes renew their leases for as long as they are `alive`. */
export async function openWorld({ settings = {}, seen = (storage) => storage }: Options = {}) {
  const { log, text: logged } = recordedLog();
  const clock = createManualClock();
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
  const registryOn = (store: CachedStore) =>
    createRegistry({ storage: store, clock, groupSuffix: 'k8s.io', admission: [] });
  const registry = registryOn(storage);
  const [nodes, pods, leases] = [registry.of(nodeKind), registry.of(podKind), registry.of(leaseKind)];
  for (const name of ['default', workloads, leaseNamespace]) {
    await registry.of(namespaceKind).create('', { metadata: { name } }, context);
  }
  const alive = new Set<string>();
  let running = { stop: new AbortController(), ended: Promise.resolve() };

  async function start(): Promise<void> {
    const store = seen(storage);
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = new AbortController();
    const service = nodeLifecycle({ registry: registryOn(store), storage: store, clock, log, settings });
    running = { stop, ended: service.run(stop.signal, resolve) };
    await promise;
    await quiet();
  }

  async function stop(): Promise<void> {
    running.stop.abort();
    await running.ended;
  }

  /** Until nothing is written any more. */
  async function quiet(): Promise<void> {
    for (let still = 0, before = storage.applied; still < 25; before = storage.applied) {
      await turn();
      still = storage.applied === before ? still + 1 : 0;
    }
  }

  async function beat(name: string): Promise<void> {
    const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
    const lease = { metadata: { name, namespace: leaseNamespace }, spec };
    const place = { namespace: leaseNamespace, name };
    const isThere = storage.get(`${leases.prefix(leaseNamespace)}${name}`) !== undefined;
    if (!isThere) await leases.create(leaseNamespace, lease, context);
    else await leases.change(place, { make: (old) => ({ ...old, spec }), operation: 'Update' }, '', context);
  }

  const readNode = (name: string): Node => nodes.encoding.read(nodes.get('', name));

  async function changeNode(name: string, make: (node: Node) => Node, subresource = ''): Promise<void> {
    await nodes.change({ namespace: '', name }, { make, operation: 'Update' }, subresource, context);
    await quiet();
  }

  const say = (name: string, told: Partial<Record<string, string>>) =>
    changeNode(name, (node) => saying(node, told, clock.now()), 'status');

  return {
    clock,
    storage,
    alive,
    logged,
    nodes,
    pods,
    start,
    stop,
    quiet,
    beat,
    changeNode,
    node: readNode,
    revision: (name: string) => nodes.get('', name).revision,
    /** A node that says that it is ready, and is alive. */
    async addNode(name: string, labels: Record<string, string> = {}): Promise<void> {
      await nodes.create('', { metadata: { name, labels } }, context);
      await nodes.change(
        { namespace: '', name },
        { make: (node) => saying(node, { Ready: 'True' }, clock.now()), operation: 'Update' },
        'status',
        context,
      );
      alive.add(name);
    },
    /** What the agent of a node tells, by type of condition. */
    say,
    /** An agent that comes back: its lease, then what it tells. */
    async comeBack(name: string): Promise<void> {
      alive.add(name);
      await beat(name);
      await say(name, { Ready: 'True' });
    },
    removeNode: (name: string) => nodes.delete('', name, {}, context),
    /** Lets time pass, in which whoever is alive renews its lease every 10 seconds. */
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 10 * secondMs) {
        await Promise.all([...alive].map(beat));
        for (const half of [5, 5]) {
          await clock.advance(Math.min(half * secondMs, ms));
          await quiet();
        }
      }
    },
    ready: (name: string): NodeCondition | undefined => conditionOf(readNode(name), 'Ready'),
    taints: (name: string): string[] => (readNode(name).spec?.taints ?? []).map(shown),
    async addPod(name: string, nodeName: string, tolerations: Tolerations = [], more: object = {}) {
      const containers = [{ name: 'main', image: 'example.com/image:1' }];
      await pods.create(
        workloads,
        { metadata: { name, ...more }, spec: { containers, nodeName, tolerations } },
        context,
      );
      await quiet();
    },
    changePod: (name: string, make: (pod: Pod) => Pod) =>
      pods.change({ namespace: workloads, name }, { make, operation: 'Update' }, '', context),
    /** At once, as the agent of its node does it. */
    removePod: (name: string) => pods.delete(workloads, name, { gracePeriodSeconds: 0 }, context),
    /** What is told of an object, with how often. */
    events(name: string): string[] {
      const events = registry.of(eventKind);
      const all = storage.list(events.prefix(''), '', 0).items.map((stored) => events.encoding.read(stored));
      return all
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map((event) => `${event.type} ${event.reason}: ${event.message} ×${event.count}`);
    },
    /** As its agent tells of it, or who stands in for it. */
    async sayOfPod(name: string, told: Partial<Record<string, string>>): Promise<void> {
      const make = (pod: Pod): Pod => ({
        ...pod,
        status: {
          ...pod.status,
          conditions: Object.entries(told).map(([type, status = '']) => ({ type, status, reason: 'Told' })),
        },
      });
      const place = { namespace: workloads, name };
      await pods.change(place, { make, operation: 'Update' }, 'status', context);
      await quiet();
    },
    /** Begins the deletion of the namespace that the pods are in. */
    removeNamespace: () => registry.of(namespaceKind).delete('', workloads, {}, context),
    pod: (name: string): Pod => pods.encoding.read(pods.get(workloads, name)),
    /** The names of the pods that are to go. */
    going: (): string[] =>
      storage
        .list(pods.prefix(''), '', 0)
        .items.map((stored) => pods.encoding.read(stored).metadata)
        .flatMap((metadata) => (metadata?.deletionTimestamp === undefined ? [] : [metadata.name ?? ''])),
    async [Symbol.asyncDispose]() {
      await stop();
      await storage.close();
    },
  };
}

export function conditionOf(node: Node, type: string): NodeCondition | undefined {
  return node.status?.conditions?.find((condition) => condition.type === type);
}

function saying(node: Node, told: Partial<Record<string, string>>, now: number): Node {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const others = (node.status?.conditions ?? []).filter(({ type }) => told[type] === undefined);
  const conditions = Object.entries(told).map(([type, status = '']) => ({
    type,
    status,
    reason: 'Told',
    message: 'as the agent tells',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  }));
  return { ...node, status: { ...node.status, conditions: [...others, ...conditions] } };
}

function shown({ key, effect }: Taint): string {
  return `${key}:${effect}`;
}

/** Both taints that tell of a trouble. */
export const both = (trouble: string, domain = 'kubernetes.io') => [
  `node.${domain}/${trouble}:NoSchedule`,
  `node.${domain}/${trouble}:NoExecute`,
];
