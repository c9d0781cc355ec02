import type { ContainerSpec, Pod } from '../../../api/index.ts';
import type { LinuxLimits, MemoryShortage, PodCgroups, ResourceSettings } from '../../resources/index.ts';
import { containerResources } from '../../resources/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { ResizeStep } from '../plan/index.ts';
import type { ExecutorOptions } from './types.ts';

export interface ResizeParts {
  readonly calls: Pick<ExecutorOptions['calls'], 'updateResources'>;
  cgroups(): Promise<Pick<PodCgroups, 'raise' | 'make' | 'memoryShortages'>>;
  node(): ResourceSettings;
}

/**
 * First the cgroup of the pod gets what old and new need together, then each container gets the new, then the cgroup gets no more
 * than that. No container is changed where one uses more memory than it is to have.
 */
export async function resizePod(
  pod: Pod,
  { containers, isLast }: ResizeStep,
  { calls, cgroups, node }: ResizeParts,
): Promise<void> {
  const groups = await cgroups();
  const updates = containers.map(({ container, containerId }) => ({
    ...{ name: container, id: containerId },
    limits: updateOf(containerResources(pod, findSpec(pod, container), node())),
  }));
  const memory = updates.flatMap(({ id, limits: { memoryLimitInBytes: bytes } }) =>
    bytes === undefined ? [] : [[id, Number(bytes)] as const],
  );
  const names = new Map(updates.map(({ id, name }) => [id, name]));
  await groups.raise(pod); // also where the rest fails: containers that start meanwhile need it
  const shortages = groups.memoryShortages(pod, new Map(memory));
  const counted = isLast ? shortages : shortages.filter(({ containerId }) => containerId !== undefined);
  if (counted.length > 0) throw new Error(describeShortages(counted, names));
  for (const { id, name, limits } of updates) await update(id, name, limits, calls);
  if (isLast) await groups.make(pod);
}

async function update(
  id: string,
  name: string,
  limits: LinuxLimits,
  calls: ResizeParts['calls'],
): Promise<void> {
  try {
    await calls.updateResources(id, limits);
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.reason !== 'unimplemented') throw error;
    const why = `the container runtime cannot resize container ${JSON.stringify(name)}: it does not know UpdateContainerResources`;
    throw new Error(`${why}; make the pod again, or update the runtime`, { cause: error });
  }
}

/** Only what a resize is about. */
function updateOf({ cpuShares, cpuQuota, cpuPeriod, ...limits }: LinuxLimits): LinuxLimits {
  const { memoryLimitInBytes, memorySwapLimitInBytes } = limits;
  return {
    ...(cpuShares === undefined ? {} : { cpuShares }),
    ...(cpuQuota === undefined ? {} : { cpuQuota }),
    ...(cpuPeriod === undefined ? {} : { cpuPeriod }),
    ...(memoryLimitInBytes === undefined ? {} : { memoryLimitInBytes }),
    ...(memorySwapLimitInBytes === undefined ? {} : { memorySwapLimitInBytes }),
  };
}

function findSpec({ spec }: Pod, name: string): ContainerSpec {
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`the pod has no container ${JSON.stringify(name)}`);
  return found;
}

/** As the reference says it. */
function describeShortages(shortages: readonly MemoryShortage[], names: ReadonlyMap<string, string>): string {
  const texts = shortages.map(({ containerId = '', limitBytes, usageBytes }) => {
    const what = containerId === '' ? 'pod' : `container ${JSON.stringify(names.get(containerId))}`;
    return `attempting to set ${what} memory limit (${limitBytes}) below current usage (${usageBytes})`;
  });
  return `cannot decrease memory limits: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`;
}
