import type { Node, Pod } from '../../api/index.ts';
import { podHasEnded } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { ClusterLookups } from './cluster/cluster-state.ts';
import { ClusterState } from './cluster/cluster-state.ts';
import type { NodeFacts } from './cluster/node-state.ts';
import { readNode } from './cluster/node-state.ts';
import type { PendingPod, PodFacts } from './cluster/pod-facts.ts';
import { readPending, readPod } from './cluster/pod-facts.ts';
import { describeRefusal, describeVerdicts, noNodes } from './describe.ts';
import type { PendingCounts } from './metrics.ts';
import { Nominations } from './nominations.ts';
import type { Placement } from './place-pod.ts';
import { placePod } from './place-pod.ts';
import type { Budget, Victims, World } from './preemption.ts';
import { choosePreemption } from './preemption.ts';
import type { Waiting } from './queue.ts';
import { reportedText, SchedulingQueue } from './queue.ts';

/** What comes of one try to place a pod. */
export type Decision = Assignment | Failure;

export interface Assignment {
  readonly pod: PendingPod;
  readonly node: string;
  /** How often it could not be bound before. */
  readonly failures: number;
  /** When the try began; monotonic. */
  readonly beganMs: number;
}

export interface Failure {
  readonly pod: PendingPod;
  readonly message: string;
  /** Where room is made for it. */
  readonly nominatedNode: string | undefined;
  /** Whether that has not been said yet. */
  readonly isNews: boolean;
  /** Who has to end for it. */
  readonly victims?: Victims;
  /** When the try began; monotonic. */
  readonly beganMs: number;
}

type FailureText = Pick<Failure, 'message' | 'nominatedNode' | 'victims'>;

export interface SchedulerOptions {
  readonly lookups: ClusterLookups;
  /** Pods that name it in `spec.schedulerName` are its own. */
  readonly name: string;
  readonly budgets: () => readonly Budget[];
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** 0 to 1; default Math.random. */
  readonly random?: () => number;
}

/**
 * Decides where pods run. It knows the nodes and pods as they were reported to it, and what it has decided itself, which counts at
 * once; what is decided is carried out elsewhere. A pod that could not be placed is tried again when anything has changed by
 * then that a rule looks at, so nothing has to be known of which change could help whom.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #cluster: ClusterState;
  readonly #queue = new SchedulingQueue();
  readonly #nominations = new Nominations();
  /** The keys of its own pods that gates hold back. */
  readonly #gated = new Set<string>();
  /** Pods that were given a node, which the API does not show yet: their node. */
  readonly #assumed = new Map<string, { readonly uid: string; readonly node: string }>();
  /** Pods that are to end for others, until they are gone, and for which, by uid. Their deletion is not seen at once. */
  readonly #victims = new Map<string, { readonly uid: string; readonly preemptors: Set<string> }>();
  /** Counts what has changed. */
  #generation = 0;
  /** At which of them those that wait were made ready. */
  #wokenAt = 0;
  #startAt = 0;
  /** What became of a pod in this generation; by its likeness. */
  readonly #failed = new Map<string, { readonly generation: number; readonly message: string }>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#cluster = new ClusterState(options.lookups);
  }

  get cluster(): ClusterState {
    return this.#cluster;
  }

  /** What counts for a pod, for what explains it. */
  get world(): World {
    return { cluster: this.#cluster, nominations: this.#nominations, budgets: this.#options.budgets() };
  }

  /** The node to which a pod is being bound. */
  bindingOf({ key, uid }: PodFacts): string | undefined {
    const assumed = this.#assumed.get(key);
    return assumed?.uid === uid ? assumed.node : undefined;
  }

  /** How often a pod that waits could not be bound. */
  failuresOf({ key, uid }: PodFacts): number {
    const waiting = this.#queue.get(key);
    return waiting?.pod.uid === uid ? waiting.failures : 0;
  }

  /** How many pods wait for a node. */
  get pending(): PendingCounts {
    return { ...this.#queue.counts, gated: this.#gated.size };
  }

  /** Whether something has changed since those that wait were made ready. */
  get isStale(): boolean {
    return this.#queue.size > 0 && this.#wokenAt !== this.#generation;
  }

  /** Anything else that rules look at has changed: volumes, namespaces, budgets. */
  noteChange(): void {
    this.#generation++;
  }

  nodeChanged(node: Node): void {
    const facts = readNode(node);
    const known = this.#cluster.node(facts.name);
    if (known !== undefined && isAlike(known.facts, facts)) return;
    this.#cluster.setNode(facts);
    this.noteChange();
  }

  nodeGone(name: string): void {
    this.#cluster.removeNode(name);
    this.noteChange();
  }

  podChanged(pod: Pod): void {
    const { namespace = '', name = '', uid = '', deletionTimestamp } = pod.metadata ?? {};
    const key = `${namespace}/${name}`;
    if (podHasEnded(pod)) {
      this.podGone(key);
      return;
    }
    const { nodeName = '', schedulerName = '', schedulingGates = [] } = pod.spec ?? {};
    if (nodeName !== '') {
      this.#placed(pod, key, nodeName);
      return;
    }
    if (this.#assumed.get(key)?.uid === uid) return; // its binding is under way
    if (this.#cluster.nodeOf(key) !== undefined) this.podGone(key); // another one of this name was there
    const isOwn = schedulerName === this.#options.name && deletionTimestamp === undefined;
    const isGated = schedulingGates.length > 0;
    if (isOwn && !isGated) {
      this.#gated.delete(key);
      this.#enqueue(pod);
      return;
    }
    this.#forget(key);
    if (isOwn) this.#gated.add(key);
  }

  #enqueue(pod: Pod): void {
    const pending = readPending(pod);
    // of one that is known, what the API says may be older than what was decided
    const isKnown = this.#queue.get(pending.key)?.pod.uid === pending.uid;
    const nominated = isKnown
      ? this.#nominations.nodeOf(pending)
      : pod.status?.nominatedNodeName || undefined;
    this.#nominations.set(pending, nominated);
    this.#queue.set(pending, this.#options.clock.now());
  }

  podGone(key: string): void {
    this.#forget(key);
    this.#assumed.delete(key);
    this.#victims.delete(key);
    if (this.#cluster.take(key) !== undefined) this.noteChange();
  }

  #forget(key: string): void {
    this.#gated.delete(key);
    const waiting = this.#queue.get(key);
    if (waiting === undefined) return;
    this.#queue.delete(key);
    this.#dropNomination(waiting.pod);
  }

  #dropNomination(pod: PendingPod): void {
    if (this.#nominations.nodeOf(pod) === undefined) return;
    this.#nominations.set(pod, undefined);
    this.noteChange();
  }

  #placed(pod: Pod, key: string, nodeName: string): void {
    this.#forget(key);
    this.#assumed.delete(key);
    const facts = this.#withVictim(readPod(pod));
    const node = this.#cluster.node(nodeName);
    const known = node?.pods.get(key);
    this.#cluster.place(facts, nodeName);
    // what else changes of a pod that runs no rule looks at
    const isSame =
      known?.uid === facts.uid &&
      known.isLeaving === facts.isLeaving &&
      isEqualText(known.labels, facts.labels);
    if (!isSame) this.noteChange();
  }

  /** One that is to end counts so before its deletion is seen: another victim would be looked for otherwise. */
  #withVictim(facts: PodFacts): PodFacts {
    const known = this.#victims.get(facts.key);
    if (known?.uid === facts.uid) return { ...facts, isLeaving: true, isPreempted: true };
    this.#victims.delete(facts.key);
    return facts;
  }

  /** Makes all ready that were tried before the last change; returns how many. */
  wakeWaiting(): number {
    const candidates = this.isStale ? this.#queue.values() : this.#queue.postponed;
    this.#wokenAt = this.#generation;
    let count = 0;
    const nowMs = this.#options.clock.monotonicMs();
    for (const waiting of candidates) {
      if (waiting.triedAt === this.#generation || (waiting.notBeforeMs ?? 0) > nowMs) continue;
      this.#queue.makeReady(waiting);
      count++;
    }
    return count;
  }

  /** When the next pod may be tried again whose binding failed; monotonic. */
  get nextBackoffMs(): number | undefined {
    let next: number | undefined;
    for (const { notBeforeMs } of this.#queue.postponed) {
      if (notBeforeMs === undefined) continue;
      if (next === undefined || notBeforeMs < next) next = notBeforeMs;
    }
    return next;
  }

  /** Places the most important pod that is ready; undefined: none is. What it decides counts from now on. */
  decide(): Decision | undefined {
    const waiting = this.#queue.next();
    if (waiting === undefined) return undefined;
    const { pod } = waiting;
    const beganMs = this.#options.clock.monotonicMs();
    waiting.triedAt = this.#generation;
    const failure = this.#recall(pod) ?? this.#tryToPlace(waiting);
    if ('node' in failure) return { ...failure, beganMs };
    const said = reportedText(failure.message, failure.nominatedNode);
    const isNews = said !== waiting.reported;
    waiting.reported = said;
    return { ...failure, pod, isNews, beganMs };
  }

  /** What became of a pod like this one, if nothing has changed since. */
  #recall(pod: PendingPod): FailureText | undefined {
    const known = this.#failed.get(pod.likeness);
    const isCurrent = known?.generation === this.#generation && this.#nominations.nodeOf(pod) === undefined;
    return isCurrent ? { message: known.message, nominatedNode: undefined } : undefined;
  }

  #tryToPlace(waiting: Waiting): Omit<Assignment, 'beganMs'> | FailureText {
    const placement = this.#place(waiting.pod);
    return 'node' in placement
      ? this.#assume(waiting, placement.node.name)
      : this.#refuse(waiting.pod, placement);
  }

  #place(pod: PendingPod): Placement {
    const placement = placePod(pod, {
      cluster: this.#cluster,
      nominations: this.#nominations,
      random: this.#options.random ?? Math.random,
      startAt: this.#startAt,
    });
    this.#startAt = (this.#startAt + placement.searched) % Math.max(1, this.#cluster.nodes.length);
    return placement;
  }

  #assume({ pod, failures }: Waiting, node: string): Omit<Assignment, 'beganMs'> {
    this.#queue.delete(pod.key);
    this.#nominations.set(pod, undefined);
    this.#assumed.set(pod.key, { uid: pod.uid, node });
    this.#cluster.place(pod, node);
    this.noteChange();
    return { pod, node, failures };
  }

  #refuse(pod: PendingPod, placement: Exclude<Placement, { node: unknown }>): FailureText {
    const count = this.#cluster.nodes.length;
    if (count === 0) return this.#failWith(pod, noNodes);
    if ('refusal' in placement) {
      const reason = { reasons: ['Preemption is not helpful for scheduling'], isFinal: true };
      const preemption = describeVerdicts(Array<typeof reason>(count).fill(reason), count);
      return this.#failWith(pod, `${describeRefusal(placement.refusal, count)} preemption: ${preemption}`);
    }
    const { verdicts, rules } = placement;
    const message = describeVerdicts(verdicts.values(), count);
    const { budgets, random = Math.random } = this.#options;
    const chosen = choosePreemption(pod, verdicts, rules, {
      ...{ cluster: this.#cluster, nominations: this.#nominations, budgets: budgets(), random },
    });
    if ('message' in chosen) {
      const text = `${message} preemption: ${chosen.message}`;
      return chosen.isWaiting
        ? { message: text, nominatedNode: this.#nominations.nodeOf(pod) }
        : this.#failWith(pod, text);
    }
    return this.#preempt(pod, message, chosen);
  }

  /** No room is kept for it any more: what it waited for does not help it, and may help others. */
  #failWith(pod: PendingPod, message: string): FailureText {
    this.#dropNomination(pod);
    if (this.#failed.size > maxRemembered) this.#failed.clear();
    this.#failed.set(pod.likeness, { generation: this.#generation, message });
    return { message, nominatedNode: undefined };
  }

  /** The victims count as ending at once; nominations of less important pods to the node are void. */
  #preempt(pod: PendingPod, message: string, victims: Victims): FailureText {
    const node = victims.node.name;
    for (const each of this.#nominations.lessImportantOn(node, pod)) this.#nominations.set(each, undefined);
    this.#nominations.set(pod, node);
    for (const victim of victims.pods) {
      const known = this.#victims.get(victim.key);
      if (known?.uid === victim.uid) known.preemptors.add(pod.uid);
      else this.#victims.set(victim.key, { uid: victim.uid, preemptors: new Set([pod.uid]) });
      this.#cluster.place(this.#withVictim(victim), node);
    }
    this.noteChange();
    return { message, nominatedNode: node, victims };
  }

  /** A pod could not be bound: it waits again, longer each time. `now`: how it is, if it is there. */
  bindingFailed({ pod, failures }: Assignment, now: Pod | undefined): void {
    if (this.#assumed.get(pod.key)?.uid !== pod.uid) return; // it is seen on a node, or is gone
    this.#assumed.delete(pod.key);
    this.#cluster.take(pod.key);
    this.noteChange();
    if (now === undefined) return;
    this.podChanged(now);
    const waiting = this.#queue.get(pod.key);
    if (waiting !== undefined) this.#queue.postpone(waiting, failures + 1, this.#options.clock.monotonicMs());
  }

  /** A victim does not end for a pod after all; `victim`: as it was when it was chosen. It may still have to for another one. */
  spare(victim: PodFacts, preemptor: PendingPod): void {
    const known = this.#victims.get(victim.key);
    if (known?.uid !== victim.uid) return;
    known.preemptors.delete(preemptor.uid);
    if (known.preemptors.size > 0) return;
    this.#victims.delete(victim.key);
    const node = this.#cluster.nodeOf(victim.key);
    if (node !== undefined) this.#cluster.place(victim, node);
    this.noteChange();
  }
}

/** Failures that are remembered: one for each likeness of pods. */
const maxRemembered = 10_000;

/** Whether no rule or score sees a difference. */
function isAlike(a: NodeFacts, b: NodeFacts): boolean {
  return (
    a.isUnschedulable === b.isUnschedulable &&
    isEqualText(a.labels, b.labels) &&
    isEqualText(a.taints, b.taints) &&
    isEqualText([...a.allocatable], [...b.allocatable]) &&
    isEqualText([...a.images], [...b.images])
  );
}

function isEqualText(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
