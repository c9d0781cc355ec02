import { isDeepStrictEqual } from 'node:util';
import type { Pod, RuntimeClass, Toleration } from '../../../api/index.ts';
import { billionths, runtimeClassKind } from '../../../api/index.ts';
import type { StoredObjects } from '../strategy.ts';
import { podRefusal } from './pod-refusal.ts';

type Quantities = Readonly<Record<string, string>>;
type Scheduling = NonNullable<RuntimeClass['scheduling']>;

/**
 * A new pod with what its RuntimeClass adds: the overhead, and where such pods can run. Throws Forbidden when there is no
 * such class, or when the pod says otherwise.
 */
export function withRuntimeClass(pod: Pod, stored: StoredObjects): Pod {
  const { spec } = pod;
  if (spec?.runtimeClassName === undefined && spec?.overhead === undefined) return pod;
  const runtimeClass = runtimeClassOf(pod, stored);
  const overhead = overheadOf(pod, runtimeClass);
  const place = runtimeClass?.scheduling === undefined ? {} : placeOf(pod, runtimeClass.scheduling);
  return { ...pod, spec: { ...spec, ...(overhead === undefined ? {} : { overhead }), ...place } };
}

function runtimeClassOf(pod: Pod, stored: StoredObjects): RuntimeClass | undefined {
  const name = pod.spec?.runtimeClassName;
  if (name === undefined) return undefined;
  const found = stored.find(runtimeClassKind, '', name);
  if (found === undefined)
    throw podRefusal(pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return found;
}

function overheadOf(pod: Pod, runtimeClass: RuntimeClass | undefined): Quantities | undefined {
  const said = pod.spec?.overhead;
  if (runtimeClass?.overhead === undefined) {
    if (said === undefined) return undefined;
    throw podRefusal(
      pod,
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    );
  }
  const { podFixed = {} } = runtimeClass.overhead;
  if (said === undefined || areSame(said, podFixed)) return podFixed;
  throw podRefusal(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function areSame(a: Quantities, b: Quantities): boolean {
  const exactly = (quantities: Quantities) =>
    new Map(Object.entries(quantities).map(([name, quantity]) => [name, billionths(quantity)]));
  return isDeepStrictEqual(exactly(a), exactly(b));
}

function placeOf(pod: Pod, { nodeSelector = {}, tolerations = [] }: Scheduling) {
  const { nodeSelector: own = {}, tolerations: ownTolerations = [] } = pod.spec ?? {};
  for (const [label, value] of Object.entries(nodeSelector)) {
    const said = own[label];
    if (said === undefined || said === value) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${label}] = ${value}; pod.spec.nodeSelector[${label}] = ${said}`;
    throw podRefusal(pod, why);
  }
  return {
    nodeSelector: { ...own, ...nodeSelector },
    tolerations: mergeTolerations([...ownTolerations, ...tolerations]),
  };
}

/** In their order, without those that another covers; of equal ones the first. */
function mergeTolerations(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = [];
  for (const [index, each] of all.entries()) {
    const later = all.slice(index + 1).filter((other) => !isDeepStrictEqual(other, each));
    const isCovered = [...merged, ...later].some((other) => covers(other, each));
    if (!isCovered) merged.push(each);
  }
  return merged;
}

/** Whether `wide` tolerates everything that `narrow` does. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isDeepStrictEqual(wide, narrow)) return true;
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds } = wide;
  const isForEveryKey = key === '' && operator === 'Exists';
  if (!isForEveryKey && key !== (narrow.key ?? '')) return false;
  if (effect !== '' && effect !== (narrow.effect ?? '')) return false;
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined) return false;
    if (BigInt(narrow.tolerationSeconds) > BigInt(tolerationSeconds)) return false;
  }
  if (operator === 'Exists') return true;
  return isEqual(operator) && narrow.operator === 'Equal' && (narrow.value ?? '') === value;
}

/** As the reference has it, only the wider one may leave the operator out. */
function isEqual(operator: string): boolean {
  return operator === '' || operator === 'Equal';
}
