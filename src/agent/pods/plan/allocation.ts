/**
 * What the node has given a pod. The spec says what is asked for; after a resize that is accepted, or not yet, the two differ. All
 * that is made, counted and reported of the pod rests on what it was given.
 */
import type { Pod } from '../../../api/index.ts';
import { billionths } from '../../../api/index.ts';
import type { Allocation, GivenResources, PodRecord } from './types.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = NonNullable<Spec['containers']>[number];
type Resources = NonNullable<Container['resources']>;

/** Containers that run on, and so can be resized. */
function isResizable({ spec }: Pod, container: Container): boolean {
  return spec?.containers?.includes(container) === true || container.restartPolicy === 'Always';
}

/** As its spec asks for. */
export function askedAllocation(pod: Pod): Allocation {
  const { spec, metadata } = pod;
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const given = all
    .filter((each) => isResizable(pod, each))
    .map(({ name, resources }) => [name, toGiven(resources)]);
  return {
    generation: metadata?.generation ?? 0,
    containers: Object.fromEntries(given),
    ...(spec?.resources === undefined ? {} : { pod: toGiven(spec.resources) }),
  };
}

function toGiven({ requests, limits }: Resources = {}): GivenResources {
  return { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) };
}

/**
 * Of a pod that an agent without a record of it takes up: what was reported of containers that run, for a resize may be pending; else
 * what is asked for.
 */
export function firstAllocation(pod: Pod): Allocation {
  const asked = askedAllocation(pod);
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const reported = [...initContainerStatuses, ...containerStatuses].flatMap((status) => {
    const { name, state, resources, allocatedResources } = status;
    const isKnown = asked.containers[name] !== undefined && state?.running !== undefined;
    if (!isKnown || resources === undefined) return [];
    const requests = allocatedResources ?? resources.requests;
    return [[name, toGiven({ ...resources, ...(requests === undefined ? {} : { requests }) })] as const];
  });
  return { ...asked, containers: { ...asked.containers, ...Object.fromEntries(reported) } };
}

/** The pod as if its spec asked for no more and no less than it was given; the same object where it does. */
export function withAllocation(pod: Pod, allocation: Allocation | undefined): Pod {
  const { spec } = pod;
  if (allocation === undefined || spec === undefined || isAsked(pod, allocation)) return pod;
  const change = (containers: readonly Container[] = []) =>
    containers.map((each) => {
      const given = allocation.containers[each.name];
      return given === undefined || !isResizable(pod, each)
        ? each
        : { ...each, resources: replaceAmounts(each.resources, given) };
    });
  const { resources: _asked, ...rest } = spec;
  return {
    ...pod,
    spec: {
      ...rest,
      ...(allocation.pod === undefined ? {} : { resources: replaceAmounts(spec.resources, allocation.pod) }),
      containers: change(spec.containers),
      ...(spec.initContainers === undefined ? {} : { initContainers: change(spec.initContainers) }),
    },
  };
}

function replaceAmounts(
  { requests: _requests, limits: _limits, ...rest }: Resources = {},
  given: GivenResources,
) {
  const { requests, limits } = given;
  return {
    ...rest,
    ...(requests === undefined ? {} : { requests: { ...requests } }),
    ...(limits === undefined ? {} : { limits: { ...limits } }),
  };
}

/** Whether the spec asks for what the pod was given. */
export function isAsked(pod: Pod, allocation: Allocation): boolean {
  return isSameAllocation(askedAllocation(pod), allocation);
}

export function isSameAllocation(a: Allocation, b: Allocation): boolean {
  const names = new Set([...Object.keys(a.containers), ...Object.keys(b.containers)]);
  return (
    isSameAmounts(a.pod, b.pod) &&
    [...names].every((name) => isSameAmounts(a.containers[name], b.containers[name]))
  );
}

/** In whichever way the quantities are written. */
export function isSameAmounts(a: GivenResources | undefined, b: GivenResources | undefined): boolean {
  return listChanges(a, b).length === 0;
}

/** The names that differ: `requests.cpu`, `limits.memory`. */
export function listChanges(a: GivenResources | undefined, b: GivenResources | undefined): string[] {
  return (['requests', 'limits'] as const).flatMap((kind) => {
    const [before, after] = [a?.[kind] ?? {}, b?.[kind] ?? {}];
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    const isChanged = (name: string) => amountOf(before[name]) !== amountOf(after[name]);
    return [...names].filter(isChanged).map((name) => `${kind}.${name}`);
  });
}

const amountOf = (quantity = '0') => billionths(quantity);

/** What the container of that attempt was made with, or updated to. */
export function givenTo(
  { allocation, replaced, containers }: PodRecord,
  name: string,
  attempt: number,
): { readonly own: GivenResources; readonly pod: GivenResources | undefined } {
  const { given } = containers[name] ?? {};
  if (given?.attempt === attempt) return { own: given.resources, pod: given.pod };
  const before = replaced ?? allocation; // of one that another agent has started
  return { own: before?.containers[name] ?? {}, pod: before?.pod };
}

/** Given other resources: from here on they are what counts, and are carried out by steps. */
export function withGiven(record: PodRecord, allocation: Allocation): PodRecord {
  const { pendingResize: _pending, ...rest } = record;
  const replaced = record.replaced ?? record.allocation;
  return { ...rest, allocation, ...(replaced === undefined ? {} : { replaced }) };
}

/** With why the pod is not given yet what its spec asks for; undefined: it has it. */
export function withPendingResize(record: PodRecord, pending: PodRecord['pendingResize']): PodRecord {
  const { pendingResize: before, ...rest } = record;
  if (before === pending) return record;
  return pending === undefined ? rest : { ...rest, pendingResize: pending };
}
