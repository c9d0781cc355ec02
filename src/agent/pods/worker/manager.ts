import type { Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { BoundedMap, createWaker, describeError } from '../../../base/index.ts';
import type { Neighbour } from '../admission/index.ts';
import { compareForAdmission } from '../admission/index.ts';
import { agentAnnotation, fullName, isManifestSource, originOf, sourceAnnotation } from '../names.ts';
import type { PodOrigin, PodRecord, Wait } from '../plan/index.ts';
import { planUnseen, withLogged } from '../plan/index.ts';
import type { PodSource } from '../types.ts';
import type { PodView } from '../view/types.ts';
import type { HeldPod } from './held-pods.ts';
import { HeldPods, inputOfHeld, notAdmitted, waitForObject } from './held-pods.ts';
import { isNotBegun } from './look.ts';
import { orphanOf } from './pod-names.ts';
import { mayStillBeMade, newRecord } from './record.ts';
import type { WorkerParts } from './types.ts';
import { PodWorker } from './worker.ts';

/** Whether the node takes a pod. */
export type Verdict =
  | { readonly isAdmitted: true }
  | {
      readonly isAdmitted: false;
      readonly reason: string;
      readonly message: string;
      /** Pods that must go first; the pod is asked about again when they have ended. */
      readonly preempt?: readonly Pod[];
    };

export interface PodManagerOptions extends WorkerParts {
  /** All pods for this node, without mirrors. */
  readonly source: PodSource;
  /** Whether all sources have been heard; before, nothing is ended for being in none. */
  isComplete(): boolean;
  /** Decides about a pod that was not known before, beside those that are admitted and have not ended. */
  admit(pod: Pod, origin: PodOrigin, admitted: readonly Neighbour[]): Promise<Verdict | undefined>;
  /** Called when a record was removed without a worker: what the pod left on the disk belongs to nobody. */
  onAbandoned(): void;
  /** Calls `listener` when what all pods depend on has changed: the runtime, its network. */
  onNodeChange(listener: () => void): Disposable;
}

interface Running {
  readonly worker: PodWorker;
  readonly done: Promise<void>;
}

/** A pod whose object was removed without waiting for it may take no longer, as in the reference. */
const orphanGraceSeconds = 1;
const checkMs = 30_000;
/** While something is not decided yet. */
const retryMs = 2000;

/**
 * Has a worker for each pod that is meant for this node, and for what the runtime has of pods that are not any more. Two pods of
 * one name follow each other: the second begins when nothing of the first is left.
 */
export class PodManager {
  readonly #options: PodManagerOptions;
  readonly #workers = new Map<string, Running>();
  readonly #waker: ReturnType<typeof createWaker>;
  /** The uids of deleted pods of which nothing is left, until the API has deleted them too. */
  readonly #finished = new Set<string>();
  /** The uids of the pods that have a record. */
  #recorded = new Set<string>();
  /** Whether a pod waits for a decision. */
  #isUndecided = false;
  /** By uid: why a pod could not be taken up. */
  readonly #complaints = new BoundedMap<string, string>({ maxEntries: 1000 });
  /** The uids of pods of others that have been logged of. */
  readonly #foreign = new BoundedMap<string, true>({ maxEntries: 1000 });

  readonly #held: HeldPods;

  constructor(options: PodManagerOptions) {
    this.#options = options;
    this.#held = new HeldPods(options.clock);
    this.#waker = createWaker(options.clock);
  }

  worker(uid: string): PodWorker | undefined {
    return this.#workers.get(uid)?.worker;
  }

  workers(): readonly PodWorker[] {
    return [...this.#workers.values()].map(({ worker }) => worker);
  }

  /** The pods for this node that have no worker, and why. */
  heldPods(): readonly HeldPod[] {
    return this.#held.list().filter(({ pod }) => this.worker(pod.metadata?.uid ?? '') === undefined);
  }

  readonly run: Service['run'] = async (signal, ready) => {
    const { source, view, images, volumes, onNodeChange } = this.#options;
    const wakePod = (uid: string) => this.#workers.get(uid)?.worker.wake();
    using _pods = source.onChange(() => this.#waker.wake());
    using _view = view.onChange((uid) => (this.#workers.has(uid) ? wakePod(uid) : this.#waker.wake()));
    using _images = images.onChange(wakePod);
    using _volumes = volumes.onChange(wakePod);
    using _node = onNodeChange(() => {
      for (const { worker } of this.#workers.values()) worker.wake();
      this.#waker.wake();
    });
    this.#recorded = new Set(await this.#options.records.list());
    ready();
    while (!signal.aborted) {
      await this.#reconcile(signal).catch((error: unknown) =>
        this.#options.log.warn(`cannot go through the pods of this node, trying on: ${describeError(error)}`),
      );
      await this.#waker.sleep(this.#isUndecided ? retryMs : checkMs, signal);
    }
    await Promise.allSettled([...this.#workers.values()].map(({ done }) => done));
  };

  async #reconcile(signal: AbortSignal): Promise<void> {
    const wanted = new Map(
      this.#options.source.pods().map((pod): [string, Pod] => [pod.metadata?.uid ?? '', pod]),
    );
    for (const uid of this.#finished) if (!wanted.has(uid)) this.#finished.delete(uid);
    this.#followObjects(wanted);
    const idle = [...wanted.values()].filter(({ metadata }) => !this.#workers.has(metadata?.uid ?? ''));
    for (const pod of this.#held.follow(idle))
      if (!wanted.has(pod.metadata?.uid ?? '')) this.#options.teller.ended(pod, 'gone');
    this.#isUndecided = false;
    for (const pod of this.#inOrder(wanted.values())) {
      if (signal.aborted) return;
      const uid = pod.metadata?.uid ?? '';
      if (this.#workers.has(uid)) continue;
      const wait = this.#waitToTake(pod, wanted);
      if (wait !== undefined) this.#hold(pod, wait);
      else await this.#take(pod, signal).catch((error: unknown) => this.#complain(pod, error));
    }
    await this.#endOrphans(signal);
  }

  /** Keeps why it is not taken up; while nothing of it has begun, its status says so, too. */
  #hold(pod: Pod, wait: Wait): void {
    const isNews = this.#held.hold(pod, wait);
    const uid = pod.metadata?.uid ?? '';
    if (!isNews || this.#recorded.has(uid) || this.#finished.has(uid)) return;
    const input = inputOfHeld(pod, this.#options);
    if (!isNotBegun(pod, input.record)) return;
    const why = input.isNetworkReady ? wait.message : input.networkMessage;
    this.#options.teller.planned(pod, input, planUnseen(input, why), new Map());
  }

  /** Why the pod is not taken up now; undefined: nothing keeps it. */
  #waitToTake(pod: Pod, wanted: ReadonlyMap<string, Pod>): Wait | undefined {
    const uid = pod.metadata?.uid ?? '';
    if (this.#finished.has(uid)) return waitForObject(pod);
    const earlier = this.#findNameHolder(pod);
    if (earlier !== undefined) return notAdmitted(`an earlier pod of its name is still here: ${earlier}`);
    if (this.#recorded.has(uid)) return undefined;
    if (!this.#mayBeOrphaned(wanted) && !this.#mayHavePredecessor(pod)) return undefined;
    this.#isUndecided = true;
    return notAdmitted('the container runtime has not listed yet what it has of earlier pods');
  }

  /** What an earlier agent took up and nobody wants may still run, under the name of a new pod. */
  #mayBeOrphaned(wanted: ReadonlyMap<string, Pod>): boolean {
    if (this.#options.view.isComplete()) return false;
    return [...this.#recorded].some((uid) => !wanted.has(uid) && !this.#workers.has(uid));
  }

  /** What another agent runs of the same manifest is known only when everything was listed. */
  #mayHavePredecessor(pod: Pod): boolean {
    return originOf(pod) !== 'api' && !this.#options.view.isComplete();
  }

  /** Whether another agent has run it from a manifest that is wanted here: it must end before ours begins. */
  #isPredecessor({ uid, namespace, name, sandboxes }: PodView): boolean {
    const isStatic = sandboxes.some(({ annotations }) => isManifestSource(annotations[sourceAnnotation]));
    return (
      isStatic &&
      this.#options.source.pods().some((pod) => {
        const isSame = fullName(pod) === `${namespace}/${name}` && pod.metadata?.uid !== uid;
        return isSame && originOf(pod) !== 'api';
      })
    );
  }

  /** Those that were taken up before keep their place; then the important ones, and the oldest. */
  #inOrder(pods: Iterable<Pod>): Pod[] {
    const rank = ({ metadata }: Pod) => (this.#recorded.has(metadata?.uid ?? '') ? 0 : 1);
    return inOrderOfAge(pods).sort((a, b) => rank(a) - rank(b));
  }

  /** Logs each reason once; the other pods go on. */
  #complain(pod: Pod, error: unknown): void {
    const uid = pod.metadata?.uid ?? '';
    const why = describeError(error);
    this.#held.hold(pod, notAdmitted(`it cannot be taken up: ${why}`));
    if (this.#complaints.get(uid) === why) return;
    this.#complaints.set(uid, why);
    this.#options.log.warn(`pod ${fullName(pod)} cannot be taken up, trying on: ${why}`);
  }

  /** Passes what has changed on to the workers; those whose object is in no source end. */
  #followObjects(wanted: ReadonlyMap<string, Pod>): void {
    for (const [uid, { worker }] of this.#workers) {
      const pod = wanted.get(uid);
      if (pod !== undefined) {
        if (pod !== worker.pod) worker.update(pod);
        continue;
      }
      if (!this.#options.isComplete() || worker.record.termination?.cause === 'gone') continue;
      const { terminationGracePeriodSeconds: ownSeconds = 30 } = worker.pod.spec ?? {};
      const graceSeconds = worker.origin === 'api' ? Math.min(ownSeconds, orphanGraceSeconds) : ownSeconds;
      worker.terminate({ cause: 'gone', graceSeconds, sinceMs: this.#options.clock.now() });
    }
  }

  /** The uid of another pod of that name, of which something is left here. */
  #findNameHolder(pod: Pod): string | undefined {
    const { uid: own, name = '', namespace = 'default' } = pod.metadata ?? {};
    const isLeft = (left: PodView) => {
      const isSame = left.uid !== own && left.name === name && left.namespace === namespace;
      return isSame && (this.#recorded.has(left.uid) || this.#isPredecessor(left));
    };
    const worker = this.workers().find((each) => fullName(each.pod) === fullName(pod));
    return worker?.uid ?? this.#options.view.pods().find(isLeft)?.uid;
  }

  async #take(pod: Pod, signal: AbortSignal): Promise<void> {
    const origin = originOf(pod);
    const { records, clock, log } = this.#options;
    const uid = pod.metadata?.uid ?? '';
    const before = await records.read(uid);
    const taken = before ?? (await this.#admit(pod, origin));
    if (taken === undefined) {
      this.#isUndecided = true;
      return;
    }
    const record = await this.#withLogged(pod, taken);
    this.#recorded.add(uid);
    // nothing is done yet for one that was accepted: its first step writes it
    const isWritten = before !== undefined || record.termination !== undefined;
    if (before === undefined && isWritten)
      await records
        .write(uid, record)
        .catch((error: unknown) =>
          log.warn(`pod ${fullName(pod)} cannot be remembered: ${describeError(error)}`),
        );
    this.#begin(new PodWorker(this.#partsOf(), pod, origin, record, isWritten), signal);
    log.debug(`pod ${fullName(pod)} is taken up at ${new Date(clock.now()).toISOString()}`);
  }

  /** Where the record knows of no container, one may have run all the same: under another agent, or before a file was lost. */
  async #withLogged(pod: Pod, record: PodRecord): Promise<PodRecord> {
    if (Object.keys(record.containers).length > 0) return record;
    const { executor, log } = this.#options;
    try {
      return withLogged(record, await executor.loggedAttempts(pod));
    } catch (error) {
      log.warn(`the logs of pod ${fullName(pod)} cannot be looked through: ${describeError(error)}`);
      return record;
    }
  }

  /** The first record of a pod; undefined while others must go first. */
  async #admit(pod: Pod, origin: PodOrigin): Promise<PodRecord | undefined> {
    const { clock, teller } = this.#options;
    const nowMs = clock.now();
    const record = newRecord(nowMs);
    const end = (reason?: string, message?: string): PodRecord => ({
      ...record,
      termination: {
        ...{ cause: 'failed', graceSeconds: 0, sinceMs: nowMs },
        ...(reason === undefined ? {} : { reason }),
        ...(message === undefined ? {} : { message }),
      },
    });
    if (origin === 'api' && podHasEnded(pod)) return { ...end(), isAdmitted: true };
    if (pod.metadata?.deletionTimestamp !== undefined) return { ...record, isAdmitted: true };
    const verdict = await this.#decide(pod, origin);
    if (verdict === undefined) return undefined;
    if (verdict.isAdmitted) return { ...record, isAdmitted: true };
    if (verdict.preempt !== undefined) {
      this.#preempt(verdict.preempt);
      const names = verdict.preempt.map(fullName).join(', ');
      this.#held.hold(pod, notAdmitted(`less important pods are ended to make room for it: ${names}`));
      return undefined;
    }
    teller.event(pod, { type: 'Warning', reason: verdict.reason, message: verdict.message });
    return end(verdict.reason, `Pod was rejected: ${verdict.message}`);
  }

  /** A pod that has room only when others have ended waits for them. */
  async #decide(pod: Pod, origin: PodOrigin): Promise<Verdict | undefined> {
    const here = this.workers().filter(({ record }) => record.isAdmitted && record.isReleased !== true);
    const toNeighbour = (worker: PodWorker): Neighbour => ({ pod: worker.pod, origin: worker.origin });
    const staying = here.filter(({ record }) => record.termination === undefined);
    const verdict = await this.#options.admit(pod, origin, staying.map(toNeighbour));
    if (verdict === undefined)
      this.#held.hold(pod, notAdmitted('the Node of this machine has not been read from the API yet'));
    if (verdict?.isAdmitted !== true || staying.length === here.length) return verdict;
    const beside = await this.#options.admit(pod, origin, here.map(toNeighbour));
    if (beside?.isAdmitted === true) return beside;
    const ending = here.flatMap((each) =>
      each.record.termination === undefined ? [] : [fullName(each.pod)],
    );
    const why = beside === undefined ? '' : `; now: ${beside.reason}: ${beside.message}`;
    this.#held.hold(pod, notAdmitted(`it has room only when these have ended: ${ending.join(', ')}${why}`));
    return undefined;
  }

  #preempt(victims: readonly Pod[]): void {
    const { clock, teller } = this.#options;
    const message = 'Preempted in order to admit critical pod';
    for (const { metadata, spec } of victims) {
      const worker = this.worker(metadata?.uid ?? '');
      if (worker === undefined) continue;
      teller.event(worker.pod, { type: 'Warning', reason: 'Preempting', message });
      const graceSeconds = spec?.terminationGracePeriodSeconds ?? 30;
      worker.terminate({
        cause: 'failed',
        graceSeconds,
        sinceMs: clock.now(),
        reason: 'Preempting',
        message,
      });
    }
  }

  #begin(worker: PodWorker, signal: AbortSignal): void {
    const { uid } = worker;
    this.#held.release(uid);
    const done = worker
      .run(signal)
      .catch((error: unknown) =>
        this.#options.log.error(`pod ${fullName(worker.pod)} is given up: ${describeError(error)}`),
      )
      .finally(() => {
        this.#workers.delete(uid);
        if (!signal.aborted && !mayStillBeMade(worker.record, this.#options.clock.now()))
          this.#recorded.delete(uid);
        if (worker.record.termination?.cause === 'deleted') this.#finished.add(uid);
        this.#waker.wake();
      });
    this.#workers.set(uid, { worker, done });
  }

  /**
   * What the runtime has of pods that this agent took up and no source has any more is ended; records of which nothing is left
   * are removed. Without a record a pod is another agent's, and is let be, unless it was made from a manifest that is ours.
   */
  async #endOrphans(signal: AbortSignal): Promise<void> {
    const { view, records, clock, onAbandoned } = this.#options;
    for (const found of view.pods()) {
      if (!this.#isOrphan(found.uid)) continue;
      const isOurs = this.#recorded.has(found.uid) || this.#isPredecessor(found);
      if (isOurs) await this.#endOrphan(found, signal);
      else this.#tellOfForeign(found);
    }
    for (const uid of [...this.#recorded]) {
      if (signal.aborted || !this.#isOrphan(uid) || view.pod(uid) !== undefined) continue;
      const record = await records.read(uid);
      if (record !== undefined && mayStillBeMade(record, clock.now())) continue;
      if (!this.#isOrphan(uid) || view.pod(uid) !== undefined) continue;
      this.#recorded.delete(uid);
      await records.remove(uid);
      onAbandoned();
    }
  }

  async #endOrphan(found: PodView, signal: AbortSignal): Promise<void> {
    const { records, clock } = this.#options;
    const record = (await records.read(found.uid)) ?? { ...newRecord(clock.now()), isAdmitted: true };
    if (signal.aborted || !this.#isOrphan(found.uid)) return;
    const worker = new PodWorker(this.#partsOf(), orphanOf(found, orphanGraceSeconds), 'api', record, true);
    worker.terminate({ cause: 'gone', graceSeconds: orphanGraceSeconds, sinceMs: clock.now() });
    this.#begin(worker, signal);
  }

  /** Asked again after each wait: what all sources and the runtime say meanwhile counts. */
  #isOrphan(uid: string): boolean {
    const { source, view, isComplete } = this.#options;
    if (!isComplete() || !view.isComplete() || this.#workers.has(uid)) return false;
    return !source.pods().some(({ metadata }) => metadata?.uid === uid);
  }

  /** For a worker: what it has released may be what another pod waits for. */
  #partsOf(): WorkerParts {
    return { ...this.#options, onReleased: () => this.#waker.wake() };
  }

  /** Logs each once. */
  #tellOfForeign({ uid, namespace, name, sandboxes }: PodView): void {
    if (this.#foreign.get(uid) !== undefined) return;
    this.#foreign.set(uid, true);
    const mark = sandboxes[0]?.annotations[agentAnnotation];
    const by = mark === undefined ? '' : ` but by that of ${JSON.stringify(mark)}`;
    this.#options.log.info(
      `pod ${namespace}/${name} (${uid}) runs in the container runtime, was not started by this agent${by} and is meant for no pod of this node: it is let be`,
    );
  }
}

/** The oldest first, so that it keeps its place when there is not room for all. */
function inOrderOfAge(pods: Iterable<Pod>): Pod[] {
  const priority = ({ spec }: Pod) => spec?.priority ?? 0;
  return [...pods].sort((a, b) => priority(b) - priority(a) || compareForAdmission(a, b));
}
