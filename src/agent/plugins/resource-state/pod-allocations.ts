import { join } from 'node:path';
import type { Pod } from '../../../api/index.ts';
import { isRecord, podHasEnded } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError, untilAborted } from '../../../base/index.ts';
import type { StateRecord } from '../../../base/state-file/index.ts';
import { openStateFile, removeStateFile } from '../../../base/state-file/index.ts';
import type { PodSource } from '../../pods/index.ts';

/** Amounts by resource, as in a pod's requests: `{cpu: '500m'}`. */
type Amounts = Readonly<Record<string, string>>;
/** Amounts by pod uid and container, as in the reference's file. */
type Entries = Readonly<Record<string, Readonly<Record<string, Amounts>>>>;

interface PodAllocations {
  readonly allocationEntries: Entries;
}

export interface PodAllocationsOptions {
  rootDir: string;
  /** The feature gate InPlacePodVerticalScaling. */
  enabled: boolean;
  pods: PodSource;
  /** The pod with what it was given, in place of what its spec asks for; undefined before that is decided. */
  given?(pod: Pod): Pod | undefined;
  /** Calls `listener` when a pod may have been given something else. */
  onGiven?(listener: () => void): Disposable;
  /** Whether all pods are known: then a pod that is not among them is gone. */
  isComplete(): boolean;
  clock: Clock;
  log: Logger;
}

/** The minimum time between two writes: pods come in bursts. */
const spacingMs = 500;

/**
 * Keeps `pod_status_manager_state` (specification 2.6): the resources that this node has allocated to the containers of its
 * pods, as another agent reads it. The allocation of a container stays until its pod is gone, or a resize was accepted, independent of
 * later changes of its spec; this agent's own memory of it is in the record of the pod. Without the feature gate there is no such
 * file, and an earlier one is removed. Never rejects; `ready` is called after the first try.
 */
export async function keepPodAllocations(
  options: PodAllocationsOptions,
  ready: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { rootDir, enabled, log } = options;
  const path = join(rootDir, 'pod_status_manager_state');
  if (enabled) return await follow(options, path, ready, signal);
  await removeStateFile(path).catch((error: unknown) =>
    log.warn(
      { path },
      `a file that has no meaning without InPlacePodVerticalScaling stays: ${describeError(error)}`,
    ),
  );
  ready();
  await untilAborted(signal);
}

async function follow(
  { pods, given, onGiven, isComplete, clock, log }: PodAllocationsOptions,
  path: string,
  ready: () => void,
  signal: AbortSignal,
): Promise<void> {
  await using file = openStateFile({ path, what: 'what pods were given', parse, clock, log });
  const found = await file.read();
  let kept = found.state === 'value' ? found.value.allocationEntries : undefined;
  for (let wake = new AbortController(); !signal.aborted; wake = new AbortController()) {
    using _changes = pods.onChange(() => wake.abort());
    using _given = onGiven?.(() => wake.abort());
    const next = computeEntries(pods.pods(), isComplete(), kept ?? {}, given);
    if (kept === undefined || JSON.stringify(next) !== JSON.stringify(kept)) {
      await file.write({ allocationEntries: next }).catch(() => undefined); // logged and tried again by the state file
    }
    kept = next;
    ready();
    await clock.sleep(Number.POSITIVE_INFINITY, AbortSignal.any([signal, wake.signal]));
    await clock.sleep(spacingMs, signal);
  }
}

/** Computes the entries, sorted by uid. Until all pods are known, earlier entries are kept. */
function computeEntries(
  pods: readonly Pod[],
  isComplete: boolean,
  before: Entries,
  given: PodAllocationsOptions['given'],
): Entries {
  const living = pods.filter((pod) => !podHasEnded(pod));
  const entries = new Map(isComplete ? [] : Object.entries(before));
  for (const pod of living) {
    const uid = pod.metadata?.uid;
    if (uid === undefined) continue;
    const now = given?.(pod);
    entries.set(uid, now === undefined ? computeContainers(pod, before[uid]) : computeContainers(now));
  }
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function computeContainers(
  { spec }: Pod,
  before: Readonly<Record<string, Amounts>> = {},
): Readonly<Record<string, Amounts>> {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const running = [...sidecars, ...(spec?.containers ?? [])];
  return Object.fromEntries(
    running.map(({ name, resources }) => [name, before[name] ?? resources?.requests ?? {}]),
  );
}

function parse({ allocationEntries }: StateRecord): PodAllocations {
  if (!isEntries(allocationEntries)) throw new Error('has no amounts by pod and container');
  return { allocationEntries };
}

function isEntries(value: unknown): value is Entries {
  const isAmounts = (each: unknown) =>
    isRecord(each) && Object.values(each).every((amount) => typeof amount === 'string');
  const isPod = (each: unknown) => isRecord(each) && Object.values(each).every(isAmounts);
  return isRecord(value) && Object.values(value).every(isPod);
}
