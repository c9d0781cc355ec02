import assert from 'node:assert/strict';
import type { DaemonSet, Node, Pod } from '../../../../src/api/index.ts';
import { daemonSetKind, matchesNode, nodeKind, podKind } from '../../../../src/api/index.ts';
import type { ControllerOptions } from '../../../../src/apiserver/controllers/index.ts';
import { workloadControllers } from '../../../../src/apiserver/workloads/index.ts';
import { context, prepare } from './world.ts';

export type DaemonSpec = NonNullable<DaemonSet['spec']>;

export const daemonLabels = { app: 'daemon' };

export const daemonTemplate = (image: string): DaemonSpec['template'] => ({
  metadata: { labels: daemonLabels },
  spec: { containers: [{ name: 'main', image }] },
});

export const daemonSet = (spec: Partial<DaemonSpec> = {}): DaemonSet => ({
  metadata: { name: 'agent' },
  spec: { selector: { matchLabels: daemonLabels }, template: daemonTemplate('one'), ...spec },
});

export const isGoing = ({ metadata }: Pod) => metadata?.deletionTimestamp !== undefined;

/** A control plane with some nodes; the test binds the pods, as a scheduler does, and reports of them, as agents do. */
export async function prepareNodes(
  names: readonly string[],
  create: (options: ControllerOptions) => ReturnType<typeof workloadControllers> = workloadControllers,
) {
  const world = await prepare(create);
  const nodes = world.registry.of(nodeKind);
  const settle = () => world.clock.advance(0);
  const listNodes = () =>
    world.storage
      .list(nodes.prefix(''), '', 0)
      .items.map((stored) => nodes.encoding.read(stored))
      .map(({ metadata }) => ({ name: metadata?.name ?? '', labels: metadata?.labels ?? {} }));
  const lab = {
    ...world,
    settle,
    listNodes,
    async addNode(name: string, spec: NonNullable<Node['spec']> = {}, labels: Record<string, string> = {}) {
      await nodes.create('', { metadata: { name, labels }, spec }, context);
      await settle();
    },
    async changeNode(name: string, make: (node: Node) => Node) {
      await nodes.change({ namespace: '', name }, { make, operation: 'Update' }, '', context);
      await settle();
    },
    taint: (name: string, effect: string, key = 'k'): Promise<void> =>
      lab.changeNode(name, (node) => ({ ...node, spec: { ...node.spec, taints: [{ key, effect }] } })),
    async removeNode(name: string) {
      await nodes.delete('', name, {}, context);
      await settle();
    },
    set: () => world.get(daemonSetKind, 'agent'),
    async changeSet(change: Partial<DaemonSpec>) {
      const { spec: plain } = daemonSet();
      assert.ok(plain);
      await world.change(daemonSetKind, 'agent', (set) => ({
        ...set,
        spec: { ...plain, ...set.spec, ...change },
      }));
      await settle();
    },
    setImage: (image: string): Promise<void> => lab.changeSet({ template: daemonTemplate(image) }),
    /** The node that the affinity of a pod leaves it; undefined where it is not there. */
    placeFor: (pod: Pod): string | undefined => listNodes().find((node) => matchesNode(pod, node))?.name,
    async bind(pod: Pod): Promise<void> {
      const node = lab.placeFor(pod);
      if (node === undefined) return;
      const make = (now: Pod): Pod => ({ ...now, spec: { containers: [], ...now.spec, nodeName: node } });
      await world.change(podKind, pod.metadata?.name ?? '', make, 'binding');
      await settle();
    },
    /** Gives all pods their nodes, and lets them run, ready or not. */
    async run(isReady = true): Promise<void> {
      for (const pod of world.pods()) {
        if (isGoing(pod)) continue;
        if (!pod.spec?.nodeName) await lab.bind(pod);
        if (pod.status?.phase === 'Pending') await world.report(pod.metadata?.name ?? '', 'Running', isReady);
      }
    },
    podOn(node: string): Pod {
      const pod = world.pods().find((each) => each.spec?.nodeName === node && !isGoing(each));
      assert.ok(pod, `a pod on ${node}`);
      return pod;
    },
    nameOn: (node: string): string => lab.podOn(node).metadata?.name ?? '',
    /** Agents end the pods that are being deleted. */
    async finish(): Promise<void> {
      for (const pod of world.pods())
        if (isGoing(pod)) await world.remove(podKind, pod.metadata?.name ?? '', { gracePeriodSeconds: 0 });
      await settle();
    },
    /** `node image`, sorted; with `-` those that are being deleted, and in brackets a node that is only wanted. */
    shown: (): string[] =>
      world
        .pods()
        .map((pod) => {
          const node = pod.spec?.nodeName || `(${lab.placeFor(pod) ?? 'none'})`;
          return `${isGoing(pod) ? '-' : ''}${node} ${pod.spec?.containers[0]?.image}`;
        })
        .sort(),
  };
  for (const name of names) await lab.addNode(name);
  await world.start();
  return lab;
}
