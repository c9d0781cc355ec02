import type { Amounts, Pod } from '../../../api/index.ts';
import { checkQualifiedName, podUnits, sumAmounts, toUnits, unitsOf } from '../../../api/index.ts';
import type { AdmittingNode, Refusal } from './types.ts';

/** A resource that is not enough for the pod, in whole units. */
export interface Shortage {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** The resources that the node has too little of, the number of pods first, those with names of their own last. */
export function findShortages(
  pod: Pod,
  others: readonly Pod[],
  { allocatable }: Pick<AdmittingNode, 'allocatable'>,
): Shortage[] {
  const used = sumAmounts(others.map(podUnits));
  const room = unitsOf(allocatable);
  const countedPods = {
    ...{ resource: 'pods', requested: 1n, used: BigInt(others.length) },
    capacity: toUnits('pods', allocatable['pods'] ?? '0'),
  };
  const wanted = [...podUnits(pod)]
    .filter(([name, amount]) => name !== 'pods' && amount > 0n && isCounted(name, room))
    .map(([resource, requested]) => ({
      ...{ resource, requested },
      ...{ used: used.get(resource) ?? 0n, capacity: room.get(resource) ?? 0n },
    }))
    .sort(byOrder);
  return [countedPods, ...wanted].filter(isShort);
}

const isShort = ({ requested, used, capacity }: Shortage) => requested > capacity - used;

const first: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

function byOrder(a: Shortage, b: Shortage): number {
  const rank = ({ resource }: Shortage) =>
    first.includes(resource) ? first.indexOf(resource) : first.length;
  return rank(a) - rank(b) || (a.resource < b.resource ? -1 : 1);
}

/** Extended resources that this node does not have are resources of the cluster, or claims: others count them. */
function isCounted(name: string, room: Amounts): boolean {
  return room.has(name) || !isExtended(name);
}

function isExtended(name: string): boolean {
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  return !isNative && !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`) === undefined;
}

export function describeShortage({ resource, requested, used, capacity }: Shortage): Refusal {
  const numbers = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, ${numbers}`,
  };
}

/** How much has to be freed. */
export function missingOf({ requested, used, capacity }: Shortage): bigint {
  return requested - (capacity - used);
}
