import type { Amounts, Pod } from '../../../api/index.ts';
import { podUnits, qosClassOf, unitsOf } from '../../../api/index.ts';
import { describeShortage, findShortages } from './room.ts';
import type { AdmittingNode, Neighbour } from './types.ts';

/** Whether the node can give a pod what its spec asks for now. Pure; reasons and messages are the reference's. */

export interface ResizeInput {
  /** As its spec asks for. */
  readonly asked: Neighbour;
  /** The same pod with what it was given. */
  readonly given: Pod;
  /** The other pods that count on the node, each with what it was given. */
  readonly others: readonly Pod[];
  readonly allocatable: AdmittingNode['allocatable'];
}

export interface ResizeRefusal {
  /** `Deferred`: there is no room now; `Infeasible`: this node can never give it. */
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
}

/** Undefined: it can. What does not become more is never refused for lack of room. */
export function judgeResize({ asked, given, others, allocatable }: ResizeInput): ResizeRefusal | undefined {
  if (asked.origin !== 'api')
    return { reason: 'Infeasible', message: 'In-place resize of static-pods is not supported' };
  const [wanted, before] = [podUnits(asked.pod), podUnits(given)];
  const isMore = (name: string) => (wanted.get(name) ?? 0n) > (before.get(name) ?? 0n);
  const beyond = findBeyond(wanted, unitsOf(allocatable), isMore);
  if (beyond !== undefined) return { reason: 'Infeasible', message: beyond };
  const [shortage] = findShortages(asked.pod, others, { allocatable }).filter(({ resource }) =>
    isMore(resource),
  );
  return shortage && { reason: 'Deferred', message: describeShortage(shortage).message };
}

function findBeyond(wanted: Amounts, room: Amounts, isMore: (name: string) => boolean): string | undefined {
  for (const name of ['memory', 'cpu']) {
    const [requested, capacity] = [wanted.get(name) ?? 0n, room.get(name) ?? 0n];
    if (isMore(name) && requested > capacity)
      return `Node didn't have enough capacity: ${name}, requested: ${requested}, capacity: ${capacity}`;
  }
  return undefined;
}

/** A pod that asks for something else than it was given. */
export interface ResizeCandidate {
  readonly asked: Pod;
  readonly given: Pod;
  /** Since when it waits; undefined: it has not been decided about yet. */
  readonly sinceMs: number | undefined;
}

/** First those that ask for no more, then the more important, then the class Guaranteed, then who has waited longer. */
export function compareResizes(a: ResizeCandidate, b: ResizeCandidate): number {
  const more = ({ asked, given }: ResizeCandidate) => {
    const [wanted, before] = [podUnits(asked), podUnits(given)];
    return ['cpu', 'memory'].some((name) => (wanted.get(name) ?? 0n) > (before.get(name) ?? 0n)) ? 1 : 0;
  };
  const priority = ({ asked }: ResizeCandidate) => asked.spec?.priority ?? 0;
  const rank = ({ asked }: ResizeCandidate) => (qosClassOf(asked) === 'Guaranteed' ? 0 : 1);
  const since = ({ sinceMs = Number.MAX_SAFE_INTEGER }: ResizeCandidate) => sinceMs;
  return more(a) - more(b) || priority(b) - priority(a) || rank(a) - rank(b) || since(a) - since(b);
}
