import type { Pod } from '../../../api/index.ts';
import { billionths } from '../../../api/index.ts';

/** Whole units by resource: thousandths of cpu, bytes of memory and storage, pieces of others. */
export type Amounts = ReadonlyMap<string, bigint>;

type Spec = NonNullable<Pod['spec']>;
type Container = NonNullable<Spec['initContainers']>[number];
type Quantities = Readonly<Record<string, string>>;

/** A quantity in whole units, rounded up as in the reference. */
export function toUnits(resource: string, quantity: string): bigint {
  const unit = resource === 'cpu' ? 1_000_000n : 1_000_000_000n;
  const size = billionths(quantity);
  return size <= 0n ? size / unit : (size + unit - 1n) / unit;
}

export function toAmounts(quantities: Quantities = {}): Amounts {
  return new Map(Object.entries(quantities).map(([name, quantity]) => [name, toUnits(name, quantity)]));
}

/**
 * What a pod requests as a whole: the containers that run together, or what one init container needs beside the sidecars
 * before it, whichever is more. Requests of the pod itself stand in their place. Its overhead comes on top.
 */
export function requestsOf({ spec }: Pod): Amounts {
  if (spec === undefined) return new Map();
  const ofPod = [...toAmounts(spec.resources?.requests)].filter(([name]) => isPodLevel(name));
  return sum([new Map([...sumOfRunning(spec), ...ofPod]), toAmounts(spec.overhead)]);
}

const isPodLevel = (name: string) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

function sumOfRunning({ containers = [], initContainers = [] }: Spec): Amounts {
  let sidecars: Amounts = new Map();
  let most: Amounts = new Map();
  for (const container of initContainers) {
    const own = toAmounts(container.resources?.requests);
    const beside = sum([sidecars, own]);
    if (isSidecar(container)) sidecars = beside;
    most = max(most, beside);
  }
  return max(most, sum([sidecars, ...containers.map(({ resources }) => toAmounts(resources?.requests))]));
}

export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

export function sum(all: readonly Amounts[]): Amounts {
  const total = new Map<string, bigint>();
  for (const amounts of all)
    for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0n) + amount);
  return total;
}

function max(a: Amounts, b: Amounts): Amounts {
  const most = new Map(a);
  for (const [name, amount] of b) if (amount > (most.get(name) ?? -1n)) most.set(name, amount);
  return most;
}
