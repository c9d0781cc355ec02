/** Which containers of a pod are probed, and what of it outlives the agent. */
import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../api/index.ts';
import type { ProbeTarget } from '../../probes/index.ts';
import { hasProbes } from '../../probes/index.ts';
import type { PodRecord, ProbeResults } from '../plan/index.ts';
import type { PodView } from '../view/types.ts';

type Container = ProbeTarget['spec'];

/** Its containers that run and have probes. */
export function probeTargets(pod: Pod, view: PodView | undefined, record: PodRecord): ProbeTarget[] {
  if (view === undefined) return [];
  return probedContainers(pod).flatMap((spec) => {
    const newest = view.containers.find(({ name }) => name === spec.name);
    if (newest?.state !== 'running') return [];
    const { id, startedMs } = newest;
    return [{ id, spec, startedMs, known: findKnown(pod, record, spec.name, id) }];
  });
}

/** Of init containers only sidecars can have probes. */
function probedContainers({ spec }: Pod): Container[] {
  const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  return [...sidecars, ...(spec?.containers ?? [])].filter(hasProbes);
}

/** The record says it at the same time as the status does, and says it of static pods too. */
function findKnown({ status }: Pod, record: PodRecord, name: string, id: string): ProbeTarget['known'] {
  const kept = record.containers[name]?.probed;
  if (kept?.id === id) return kept;
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const reported = statuses.find((each) => each.name === name && each.containerID?.endsWith(`://${id}`));
  if (reported?.state?.running === undefined) return undefined;
  return { isStarted: reported.started === true, isReady: reported.ready };
}

/** With what probes say now; the same object where nothing has changed. */
export function withProbed(record: PodRecord, probes: ReadonlyMap<string, ProbeResults>): PodRecord {
  let next = record;
  for (const [name, { containerId: id, startup, readiness }] of probes) {
    const isNothing = startup === undefined && readiness === undefined;
    const before = next.containers[name] ?? {};
    if (id === undefined || (isNothing && before.probed?.id !== id)) continue;
    const probed = { id, isStarted: startup === true, isReady: readiness === true };
    if (isDeepStrictEqual(probed, before.probed)) continue;
    next = { ...next, containers: { ...next.containers, [name]: { ...before, probed } } };
  }
  return next;
}
