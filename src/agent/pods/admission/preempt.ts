import type { Amounts, Pod, QosClass } from '../../../api/index.ts';
import { podUnits, qosClassOf } from '../../../api/index.ts';
import { isCritical } from './pod-class.ts';
import type { Neighbour } from './types.ts';

/** By resource, what is still missing; only amounts above zero. */
type Missing = ReadonlyMap<string, bigint>;

/** A pod that may end, and what that frees. */
interface Candidate {
  readonly pod: Pod;
  readonly qos: QosClass;
  readonly frees: Amounts;
}

/**
 * Chooses the pods to end so that a critical pod has room: as few and as cheap as possible, those of the class BestEffort
 * before Burstable before Guaranteed. Returns in words what could not be freed when all that may be ended are not enough.
 */
export function chooseVictims(
  preemptor: Neighbour,
  others: readonly Neighbour[],
  missing: Missing,
): { readonly victims: readonly Pod[] } | { readonly unmet: string } {
  const possible = others.filter((other) => isPreemptable(preemptor, other)).map(toCandidate);
  const unmet = subtract(missing, possible);
  if (unmet.size > 0) return { unmet: formatMissing(unmet) };
  const byClass = (wanted: QosClass) => possible.filter(({ qos }) => qos === wanted);
  const [bestEffort, burstable] = [byClass('BestEffort'), byClass('Burstable')];
  // from the dearest class down: of each only what all cheaper ones together cannot free
  const guaranteed = chooseClosest(byClass('Guaranteed'), subtract(missing, [...bestEffort, ...burstable]));
  const middle = chooseClosest(burstable, subtract(missing, [...bestEffort, ...guaranteed]));
  const cheap = chooseClosest(bestEffort, subtract(missing, [...middle, ...guaranteed]));
  return { victims: [...cheap, ...middle, ...guaranteed].map(({ pod }) => pod) };
}

function isPreemptable(preemptor: Neighbour, other: Neighbour): boolean {
  const isOnlyOneCritical =
    isCritical(preemptor.pod, preemptor.origin) && !isCritical(other.pod, other.origin);
  if (isOnlyOneCritical) return true;
  const [own, its] = [preemptor.pod.spec?.priority, other.pod.spec?.priority];
  return own !== undefined && its !== undefined && own > its;
}

function toCandidate({ pod }: Neighbour): Candidate {
  return { pod, qos: qosClassOf(pod), frees: new Map([...podUnits(pod), ['pods', 1n]]) };
}

/** One after the other the pod that comes closest to what is missing; of equal ones the one that requests less. */
function chooseClosest(candidates: readonly Candidate[], missing: Missing): Candidate[] {
  const chosen: Candidate[] = [];
  const rest = new Set(candidates);
  let still = missing;
  while (still.size > 0) {
    const closest = findClosest(rest, still);
    if (closest === undefined) break;
    rest.delete(closest);
    chosen.push(closest);
    still = subtract(still, [closest]);
  }
  return chosen;
}

function findClosest(candidates: Iterable<Candidate>, missing: Missing): Candidate | undefined {
  let best: { readonly candidate: Candidate; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = distanceOf(candidate, missing);
    const isCloser =
      best === undefined ||
      distance < best.distance ||
      (distance === best.distance && requestsLess(candidate, best.candidate));
    if (isCloser) best = { candidate, distance };
  }
  return best?.candidate;
}

function requestsLess(a: Candidate, b: Candidate): boolean {
  for (const resource of ['memory', 'cpu']) {
    const [own, its] = [freedBy(a, resource), freedBy(b, resource)];
    if (own !== its) return own < its;
  }
  return false;
}

const freedBy = ({ frees }: Candidate, resource: string) => frees.get(resource) ?? 0n;

/** Zero for a pod that frees everything that is missing; each resource counts alike. */
function distanceOf(candidate: Candidate, missing: Missing): number {
  let distance = 0;
  for (const [resource, amount] of missing) {
    const left = amount - freedBy(candidate, resource);
    if (left > 0n) distance += (Number(left) / Number(amount)) ** 2;
  }
  return distance;
}

function subtract(missing: Missing, candidates: readonly Candidate[]): Missing {
  const left = [...missing].map(([resource, amount]): [string, bigint] => [
    resource,
    candidates.reduce((rest, candidate) => rest - freedBy(candidate, resource), amount),
  ]);
  return new Map(left.filter(([, amount]) => amount > 0n));
}

function formatMissing(missing: Missing): string {
  return `[${[...missing].map(([resource, amount]) => `(res: ${resource}, q: ${amount}), `).join('')}]`;
}
