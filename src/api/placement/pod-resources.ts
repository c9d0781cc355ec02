import type { Pod } from '../kinds/index.ts';
import { billionths, computeQosClass } from '../kinds/index.ts';

/*
 * What a pod asks for and may use as a whole, in billionths by the name of the resource. Its containers run side by side,
 * its init containers one after the other, each beside the sidecars that were started before it; so the pod needs the larger
 * of the two, and what running it takes on top. Resources of the pod as a whole, where it has them, replace the sum.
 */

type PodSpec = NonNullable<Pod['spec']>;
export type ContainerSpec = NonNullable<PodSpec['containers']>[number];

/** By the name of the resource; billionths, or whole units where that is said. */
export type Amounts = ReadonlyMap<string, bigint>;

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

type Kind = 'requests' | 'limits';

/**
 * What a pod takes from the node it is on, its overhead included, in whole units (`toUnits`): what an agent admits by and a
 * scheduler counts.
 */
export function podUnits(pod: Pod): Amounts {
  const requests = podRequests(pod, { withOverhead: true });
  return new Map([...requests].map(([name, amount]) => [name, roundUp(name, amount)]));
}

/** A quantity in whole units, rounded up: thousandths of cpu, bytes of memory and storage, pieces of others. */
export function toUnits(resource: string, quantity: string): bigint {
  return roundUp(resource, billionths(quantity));
}

/** What a node has, in whole units. */
export function unitsOf(quantities: Readonly<Record<string, string>> = {}): Amounts {
  return new Map(Object.entries(quantities).map(([name, quantity]) => [name, toUnits(name, quantity)]));
}

function roundUp(resource: string, amount: bigint): bigint {
  const unit = resource === 'cpu' ? 1_000_000n : 1_000_000_000n;
  return amount <= 0n ? amount / unit : (amount + unit - 1n) / unit;
}

/** The sum of all. */
export function sumAmounts(all: readonly Amounts[]): Amounts {
  return all.reduce(add, new Map());
}

/** Of the status, where it was computed when the pod was made, else of the spec. */
export function qosClassOf({ spec, status }: Pod): QosClass {
  const known = status?.qosClass;
  if (known === 'Guaranteed' || known === 'Burstable' || known === 'BestEffort') return known;
  return computeQosClass(spec ?? { containers: [] });
}

export function isSidecar(container: ContainerSpec): boolean {
  return container.restartPolicy === 'Always';
}

/** Whether the pod limits or requests cpu or memory as a whole, beside its containers. */
export function hasPodResources({ spec }: Pod): boolean {
  return ['cpu', 'memory'].some(
    (name) =>
      spec?.resources?.requests?.[name] !== undefined || spec?.resources?.limits?.[name] !== undefined,
  );
}

export interface SumOptions {
  readonly withOverhead: boolean;
}

export function podRequests(pod: Pod, { withOverhead }: SumOptions): Amounts {
  const sum = sumOf(pod, 'requests');
  return withOverhead ? add(sum, parse(pod.spec?.overhead)) : sum;
}

/** A resource that no container limits is absent; the overhead counts only where there is a limit. */
export function podLimits(pod: Pod, { withOverhead }: SumOptions): Amounts {
  const sum = sumOf(pod, 'limits');
  if (!withOverhead) return sum;
  const limited = [...parse(pod.spec?.overhead)].filter(([name]) => (sum.get(name) ?? 0n) > 0n);
  return add(sum, new Map(limited));
}

function sumOf({ spec }: Pod, kind: Kind): Amounts {
  let starting: Amounts = new Map();
  let sidecars: Amounts = new Map();
  for (const container of spec?.initContainers ?? []) {
    const own = parse(container.resources?.[kind]);
    const beside = add(sidecars, own);
    if (isSidecar(container)) sidecars = beside;
    starting = maxOf(starting, beside);
  }
  const regular = (spec?.containers ?? []).map(({ resources }) => parse(resources?.[kind]));
  const sum = maxOf(regular.reduce(add, sidecars), starting);
  return new Map([...sum, ...parse(spec?.resources?.[kind])]);
}

function parse(quantities: Readonly<Record<string, string>> | undefined): Amounts {
  return new Map(Object.entries(quantities ?? {}).map(([name, text]) => [name, billionths(text)]));
}

function add(left: Amounts, right: Amounts): Amounts {
  const sum = new Map(left);
  for (const [name, amount] of right) sum.set(name, (sum.get(name) ?? 0n) + amount);
  return sum;
}

function maxOf(left: Amounts, right: Amounts): Amounts {
  const max = new Map(left);
  for (const [name, amount] of right) {
    const other = max.get(name);
    if (other === undefined || amount > other) max.set(name, amount);
  }
  return max;
}
