/** One Job, `job`, in a world of its own. */
import type { Job, JobSpec, Pod } from '../../../../../src/api/index.ts';
import { jobKind, podKind } from '../../../../../src/api/index.ts';
import { workloadControllers } from '../../../../../src/apiserver/workloads/index.ts';
import type { World } from '../world.ts';
import { prepare } from '../world.ts';

export const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'image' }] } };
export const job = (spec: Partial<JobSpec> = {}): Job => ({
  metadata: { name: 'job' },
  spec: { template, ...spec },
});

export async function start(): Promise<World> {
  const world = await prepare(workloadControllers);
  await world.start();
  return world;
}
export const statusOf = (world: World) => world.get(jobKind, 'job').status;
export const conditionsOf = (world: World) =>
  (statusOf(world)?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);
/** Names of the pods that go on. */
export const active = (world: World) =>
  world
    .pods()
    .filter(
      ({ metadata, status }) =>
        metadata?.deletionTimestamp === undefined && !['Failed', 'Succeeded'].includes(status?.phase ?? ''),
    )
    .map(({ metadata }) => metadata?.name ?? '');
export const nameOf = ({ metadata }: Pod) => metadata?.name ?? '';
export const isTracked = ({ metadata }: Pod) =>
  metadata?.finalizers?.includes('batch.kubernetes.io/job-tracking');
export const change = async (world: World, make: (spec: JobSpec) => Partial<JobSpec>) => {
  await world.change(jobKind, 'job', (now) => ({
    ...now,
    ...(now.spec && { spec: { ...now.spec, ...make(now.spec) } }),
  }));
  await world.clock.advance(0);
};
/** A node has it. */
export const bound = (world: World, name: string) =>
  world.change(
    podKind,
    name,
    (pod) => ({ ...pod, ...(pod.spec && { spec: { ...pod.spec, nodeName: 'n' } }) }),
    'binding',
  );
export const indexLabel = 'batch.kubernetes.io/job-completion-index';
