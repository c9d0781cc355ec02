import type { Amounts, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod } from '../../../api/index.ts';
import {
  billionths,
  computeQosClass,
  limitRangeKind,
  persistentVolumeClaimKind,
  podKind,
  podLimits,
  podRequests,
  StatusError,
} from '../../../api/index.ts';
import { amountsOf, formatAmount } from '../quota/amounts.ts';
import type { StoredObjects } from '../strategy.ts';

/*
 * What the LimitRanges of a namespace make of a pod or a claim, as in the reference: containers get what they do not say, then
 * everything must lie between the least and the most. The ranges apply one after the other, in the order of their names.
 */

type Container = NonNullable<Pod['spec']>['containers'][number];
type Quantities = Readonly<Record<string, string>>;

const annotation = 'kubernetes.io/limit-ranger';

/** A pod with the defaults of its namespace. Throws Forbidden when a pod with them breaks a limit. */
export function withLimits(pod: Pod, stored: Pick<StoredObjects, 'list'>): Pod {
  if (pod.metadata?.deletionTimestamp !== undefined) return pod;
  const ranges = rangesOf(pod.metadata?.namespace, stored);
  if (ranges.length === 0 || pod.spec === undefined) return pod;
  const limited = ranges.reduce(withDefaultsOf, pod);
  refuse(
    podKind.resource,
    limited.metadata?.name,
    ranges.flatMap((range) => podFaults(limited, range)),
  );
  return limited;
}

/** A new pod's class of service follows from what its containers got. */
export function withQosClass(pod: Pod): Pod {
  if (pod.spec === undefined || pod.status?.qosClass === undefined) return pod;
  return { ...pod, status: { ...pod.status, qosClass: computeQosClass(pod.spec) } };
}

/** Throws Forbidden when a claim asks for less or more than its namespace allows. */
export function checkClaimLimits(claim: PersistentVolumeClaim, stored: Pick<StoredObjects, 'list'>): void {
  if (claim.metadata?.deletionTimestamp !== undefined) return;
  const requests = amountsOf(claim.spec?.resources?.requests);
  const items = rangesOf(claim.metadata?.namespace, stored).flatMap(({ spec }) => spec?.limits ?? []);
  const faults = items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...faultsOf(item.min, (name, least) =>
        minFault(item.type, name, least, { requests, limits: new Map() }),
      ),
      ...faultsOf(item.max, (name, most) => maxRequestFault(item.type, name, most, requests)),
    ]);
  refuse(persistentVolumeClaimKind.resource, claim.metadata?.name, faults);
}

function rangesOf(namespace = '', stored: Pick<StoredObjects, 'list'>): readonly LimitRange[] {
  return stored.list(limitRangeKind, namespace);
}

/** One fault stands alone, several in brackets. */
function refuse(resource: string, name = '', faults: readonly string[]): void {
  const distinct = [...new Set(faults)];
  if (distinct.length === 0) return;
  const [first = ''] = distinct;
  const why = distinct.length === 1 ? first : `[${distinct.join(', ')}]`;
  throw new StatusError('Forbidden', `${resource} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { name, kind: resource },
  });
}

function withDefaultsOf(pod: Pod, { spec: range }: LimitRange): Pod {
  const items = (range?.limits ?? []).filter(({ type }) => type === 'Container');
  const requests: Quantities = Object.assign({}, ...items.map(({ defaultRequest }) => defaultRequest));
  const limits: Quantities = Object.assign({}, ...items.map((item) => item.default));
  const notes: string[] = [];
  const complete = (what: string) => (container: Container) => {
    const said = container.resources;
    const added = { requests: missing(requests, said?.requests), limits: missing(limits, said?.limits) };
    if (added.requests.length + added.limits.length === 0) return container;
    const note = (names: readonly string[], kind: string) =>
      names.length === 0 ? [] : [`${names.toSorted().join(', ')} ${kind} for ${what} ${container.name}`];
    notes.push(...note(added.requests, 'request'), ...note(added.limits, 'limit'));
    return {
      ...container,
      resources: {
        ...said,
        ...(added.limits.length > 0 ? { limits: { ...limits, ...said?.limits } } : {}),
        ...(added.requests.length > 0 ? { requests: { ...requests, ...said?.requests } } : {}),
      },
    };
  };
  if (pod.spec === undefined) return pod;
  const { containers: given = [] } = pod.spec; // what has none is refused later
  const containers = given.map(complete('container'));
  const initContainers = pod.spec.initContainers?.map(complete('init container'));
  if (notes.length === 0) return pod;
  const annotations = {
    ...pod.metadata?.annotations,
    [annotation]: `LimitRanger plugin set: ${notes.join('; ')}`,
  };
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: { ...pod.spec, containers, ...(initContainers === undefined ? {} : { initContainers }) },
  };
}

function missing(defaults: Quantities, said: Quantities = {}): string[] {
  return Object.keys(defaults).filter((name) => said[name] === undefined);
}

function podFaults(pod: Pod, { spec }: LimitRange): string[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  return (spec?.limits ?? []).flatMap((item) => {
    if (item.type === 'Container')
      return [...containers, ...initContainers].flatMap(({ resources }) =>
        itemFaults(item, {
          requests: amountsOf(resources?.requests),
          limits: amountsOf(resources?.limits),
        }),
      );
    if (item.type !== 'Pod') return [];
    const whole = { withOverhead: false };
    return itemFaults(item, { requests: podRequests(pod, whole), limits: podLimits(pod, whole) });
  });
}

interface Asked {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function itemFaults(item: LimitRangeItem, asked: Asked): string[] {
  const { type } = item;
  return [
    ...faultsOf(item.min, (name, least) => minFault(type, name, least, asked)),
    ...faultsOf(item.max, (name, most) => maxFault(type, name, most, asked)),
    ...faultsOf(item.maxLimitRequestRatio, (name, ratio) => ratioFault(type, name, ratio, asked)),
  ];
}

function faultsOf(
  bounds: Quantities = {},
  fault: (name: string, bound: bigint) => string | undefined,
): string[] {
  return Object.entries(bounds).flatMap(([name, bound]) => fault(name, billionths(bound)) ?? []);
}

function minFault(type: string, name: string, least: bigint, { requests, limits }: Asked) {
  const rule = `minimum ${name} usage per ${type} is ${formatAmount(name, least)}`;
  const [request, limit] = [requests.get(name), limits.get(name)];
  if (request === undefined) return `${rule}.  No request is specified`;
  if (request < least) return `${rule}, but request is ${formatAmount(name, request)}`;
  return limit !== undefined && limit < least
    ? `${rule}, but limit is ${formatAmount(name, limit)}`
    : undefined;
}

function maxFault(type: string, name: string, most: bigint, { requests, limits }: Asked) {
  const rule = `maximum ${name} usage per ${type} is ${formatAmount(name, most)}`;
  const [request, limit] = [requests.get(name), limits.get(name)];
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (limit > most) return `${rule}, but limit is ${formatAmount(name, limit)}`;
  return request !== undefined && request > most
    ? `${rule}, but request is ${formatAmount(name, request)}`
    : undefined;
}

function maxRequestFault(type: string, name: string, most: bigint, requests: Amounts) {
  const rule = `maximum ${name} usage per ${type} is ${formatAmount(name, most)}`;
  const request = requests.get(name);
  if (request === undefined) return `${rule}.  No request is specified`;
  return request > most ? `${rule}, but request is ${formatAmount(name, request)}` : undefined;
}

function ratioFault(type: string, name: string, ratio: bigint, { requests, limits }: Asked) {
  const rule = `${name} max limit to request ratio per ${type} is ${formatAmount('', ratio)}`;
  const [request = 0n, limit = 0n] = [requests.get(name), limits.get(name)];
  if (request === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limit === 0n) return `${rule}, but no limit is specified or limit is 0`;
  if (limit * billionths('1') <= ratio * request) return undefined;
  return `${rule}, but provided ratio is ${(Number(limit) / Number(request)).toFixed(6)}`;
}
