import assert from 'node:assert/strict';
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../../src/api/index.ts';
import { persistentVolumeClaimKind, podKind, statefulSetKind } from '../../../../src/api/index.ts';
import type { ControllerOptions } from '../../../../src/apiserver/controllers/index.ts';
import { workloadControllers } from '../../../../src/apiserver/workloads/index.ts';
import { prepare } from './world.ts';

export type StatefulSpec = NonNullable<StatefulSet['spec']>;

export const statefulLabels = { app: 'web' };

export const statefulTemplate = (image: string): StatefulSpec['template'] => ({
  metadata: { labels: statefulLabels },
  spec: { containers: [{ name: 'main', image }], volumes: [{ name: 'tmp', emptyDir: {} }] },
});

export const claimTemplate = (name: string): PersistentVolumeClaim => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});

const plainSpec: StatefulSpec = {
  selector: { matchLabels: statefulLabels },
  template: statefulTemplate('one'),
  serviceName: 'svc',
};

export const statefulSet = (spec: Partial<StatefulSpec> = {}): StatefulSet => ({
  metadata: { name: 'web' },
  spec: { ...plainSpec, ...spec },
});

export const isGoing = ({ metadata }: Pod) => metadata?.deletionTimestamp !== undefined;

/** The number of a pod of the set. */
export const numberOf = ({ metadata }: Pod) => Number(metadata?.name?.replace('web-', ''));

/** A control plane with one set or none; the test is the agent that runs and ends its pods. */
export async function prepareSet(
  spec: Partial<StatefulSpec> | 'no set' = {},
  create: (options: ControllerOptions) => ReturnType<typeof workloadControllers> = workloadControllers,
) {
  const world = await prepare(create);
  const settle = () => world.clock.advance(0);
  const claims = () => world.list(persistentVolumeClaimKind);
  const lab = {
    ...world,
    settle,
    claims,
    set: () => world.get(statefulSetKind, 'web'),
    status: () => lab.set().status ?? {},
    pod: (ordinal: number): Pod => world.get(podKind, `web-${ordinal}`),
    /** `CLAIM: KIND NAME`. */
    claimOwners: () =>
      claims().map(({ metadata }) => {
        const owners = (metadata?.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${name}`);
        return `${metadata?.name}: ${owners.join()}`;
      }),
    async changeSet(change: Partial<StatefulSpec>): Promise<void> {
      await world.change(statefulSetKind, 'web', (set) => ({
        ...set,
        spec: { ...plainSpec, ...set.spec, ...change },
      }));
      await settle();
    },
    setImage: (image: string): Promise<void> => lab.changeSet({ template: statefulTemplate(image) }),
    /** `0 one Running`; with `-` those that are being deleted, and in brackets what is not ready. */
    shown: () =>
      world.pods().map((pod) => {
        const image = pod.spec?.containers[0]?.image;
        return `${isGoing(pod) ? '-' : ''}${numberOf(pod)} ${image} ${pod.status?.phase}`;
      }),
    /** An agent takes a pod and reports of it. */
    async run(ordinal: number, isReady = true, phase = 'Running'): Promise<void> {
      const name = `web-${ordinal}`;
      if (!lab.pod(ordinal).spec?.nodeName) {
        const make = (now: Pod): Pod => ({ ...now, spec: { containers: [], ...now.spec, nodeName: 'node' } });
        await world.change(podKind, name, make, 'binding');
      }
      await world.report(name, phase, isReady);
    },
    /** Runs all pods that come, and ends those that are deleted, until nothing changes any more. */
    async runAll(maxRounds = 40): Promise<void> {
      for (let round = 0; round < maxRounds; round++) {
        const before = world.storage.applied;
        for (const pod of world.pods()) {
          if (isGoing(pod)) await world.remove(podKind, pod.metadata?.name ?? '', { gracePeriodSeconds: 0 });
          else if (pod.status?.phase === 'Pending') await lab.run(numberOf(pod));
        }
        if (world.storage.applied === before) return;
      }
      assert.fail(`not settled: ${lab.shown().join()}`);
    },
    /** The agent ends the pods that are being deleted. */
    async finish(): Promise<void> {
      for (const pod of world.pods())
        if (isGoing(pod)) await world.remove(podKind, pod.metadata?.name ?? '', { gracePeriodSeconds: 0 });
      await settle();
    },
  };
  await world.start();
  if (spec !== 'no set') await world.create(statefulSetKind, statefulSet(spec));
  return lab;
}
