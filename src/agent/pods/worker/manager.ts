import type { Pod } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { BoundedMap, createWaker, describeError } from '../../../base/index.ts';
import type { KnownServices, PodObjects } from '../../objects/index.ts';
import { compareForAdmission, importanceOf } from '../admission/index.ts';
import { fullName, originOf } from '../names.ts';
import type { PodRecord, Wait } from '../plan/index.ts';
import { deletionGraceOf, planUnseen, withReported } from '../plan/index.ts';
import type { PodView } from '../view/types.ts';
import type { PodEnd } from './end-pod.ts';
import { clearEnded, endPod } from './end-pod.ts';
import { holdObjects, retryWhenGiven } from './given.ts';
import type { HeldPod } from './held-pods.ts';
import { HeldPods, inputOfHeld, notAdmitted, waitForObject } from './held-pods.ts';
import type { Admit } from './intake.ts';
import { Intake } from './intake.ts';
import { isNotBegun } from './look.ts';
import type { OrphansOptions } from './orphans.ts';
import { Orphans } from './orphans.ts';
import { orphanOf } from './pod-names.ts';
import {
  asGivenBefore,
  isEndOfShutdown,
  isOfOtherManifest,
  isOver,
  mayStillBeMade,
  withEarlierLife,
  withFirstAllocation,
  withLogs,
  withManifest,
} from './record.ts';
import { Resizes } from './resizes.ts';
import type { WorkerParts } from './types.ts';
import { PodWorker } from './worker.ts';

export interface PodManagerOptions
  extends WorkerParts,
    Pick<OrphansOptions, 'source' | 'isComplete' | 'onAbandoned'> {
  /** What pods name on the API is followed while they hold anything here. */
  readonly objects: Pick<PodObjects, 'hold' | 'release' | 'onChange'>;
  readonly services: Pick<KnownServices, 'onKnown'>;
  /** Decides about a pod that was not known before, beside those that are admitted and have not ended. */
  readonly admit: Admit;
  /** Where pods are resized in place: what the node has for pods, in quantities by resource. */
  readonly resizing?: { allocatable(): Readonly<Record<string, string>> } | undefined;
  /** Whether the machine is about to end. */
  isShuttingDown(): boolean;
  /** Calls `listener` when what all pods depend on has changed: the runtime, its network, a shutdown. */
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
  readonly #recorded = new Set<string>();
  /** Whether a pod waits for a decision. */
  #isUndecided = false;
  /** By uid: why a pod could not be taken up. */
  readonly #complaints = new BoundedMap<string, string>({ maxEntries: 1000 });
  readonly #held: HeldPods;
  readonly #intake: Intake;
  readonly #orphans: Orphans;
  readonly #resizes: Resizes | undefined;

  constructor(options: PodManagerOptions) {
    this.#options = options;
    this.#held = new HeldPods(options.clock);
    const workers = () => this.workers();
    this.#intake = new Intake({ ...options, held: this.#held, workers });
    this.#orphans = new Orphans({
      ...options,
      recorded: this.#recorded,
      hasWorker: (uid) => this.#workers.has(uid),
      begin: (found, record, signal) => this.#beginOrphan(found, record, signal),
    });
    this.#resizes = options.resizing && new Resizes({ ...options, ...options.resizing, workers });
    this.#waker = createWaker(options.clock);
  }

  worker(uid: string): PodWorker | undefined {
    return this.#workers.get(uid)?.worker;
  }

  workers(): readonly PodWorker[] {
    return [...this.#workers.values()].map(({ worker }) => worker);
  }

  /** Ends a pod for the node's sake; it is not asked whether it may be. Returns false where nothing of it is left to end. */
  endPod(uid: string, end: PodEnd): boolean {
    const worker = this.worker(uid);
    return worker !== undefined && endPod(worker, end, this.#options.clock.now());
  }

  /**
   * Removes what the runtime keeps of pods that have ended, with their logs. Resolves when that is done, at the latest after half a
   * minute: the rest goes on by itself.
   */
  async clearEnded(signal: AbortSignal): Promise<void> {
    await clearEnded(() => this.workers(), this.#options, signal);
  }

  /** The pods for this node that have no worker, and why. */
  heldPods(): readonly HeldPod[] {
    return this.#held.list().filter(({ pod }) => this.worker(pod.metadata?.uid ?? '') === undefined);
  }

  readonly run: Service['run'] = async (signal, ready) => {
    const { source, view, images, volumes, probes, onNodeChange } = this.#options;
    const wakePod = (uid: string) => this.#workers.get(uid)?.worker.wake();
    using _pods = source.onChange(() => this.#waker.wake());
    using _view = view.onChange((uid) => (this.#workers.has(uid) ? wakePod(uid) : this.#waker.wake()));
    using _images = images.onChange(wakePod);
    using _volumes = volumes.onChange(wakePod);
    using _probes = probes.onChange(wakePod);
    using _given = retryWhenGiven(this.#options, () => this.workers());
    using _node = onNodeChange(() => {
      for (const { worker } of this.#workers.values()) worker.wake();
      this.#waker.wake();
    });
    await this.#options.records.removeDrafts();
    this.#recorded.clear();
    for (const uid of await this.#options.records.list()) this.#recorded.add(uid);
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
    this.#resizes?.decide();
    const idle = [...wanted.values()].filter(({ metadata }) => !this.#workers.has(metadata?.uid ?? ''));
    for (const pod of this.#held.follow(idle))
      if (!wanted.has(pod.metadata?.uid ?? '')) this.#options.teller.ended(pod, 'gone');
    this.#isUndecided = false;
    for (const pod of this.#inOrder(idle)) {
      if (signal.aborted) return;
      const uid = pod.metadata?.uid ?? '';
      if (this.#workers.has(uid)) continue;
      const wait = this.#waitToTake(pod, wanted);
      if (wait !== undefined) this.#hold(pod, wait);
      else await this.#take(pod, signal).catch((error: unknown) => this.#complain(pod, error));
    }
    await this.#orphans.end(signal);
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
      const isReplaced =
        pod !== undefined && (isOfOtherManifest(worker.record, pod) || this.#beginsAgain(worker));
      if (pod !== undefined && !isReplaced) {
        if (pod !== worker.pod) {
          worker.update(pod);
          holdObjects(this.#options, worker);
        }
        continue;
      }
      if (!isReplaced && !this.#options.isComplete()) continue;
      if (worker.record.termination?.cause !== 'gone') this.#terminateGone(worker);
    }
  }

  /** A static pod outlives the shutdown that ended it: one that was given up, and one that is over. */
  #beginsAgain({ origin, record }: PodWorker): boolean {
    return origin !== 'api' && isEndOfShutdown(record) && !this.#options.isShuttingDown();
  }

  #terminateGone(worker: PodWorker): void {
    const graceSeconds = worker.origin === 'api' ? orphanGraceSeconds : deletionGraceOf(worker.pod);
    worker.terminate({ cause: 'gone', graceSeconds, sinceMs: this.#options.clock.now() });
  }

  /** The uid of another pod of that name, of which something is left here. */
  #findNameHolder(pod: Pod): string | undefined {
    const { uid: own, name = '', namespace = 'default' } = pod.metadata ?? {};
    const isLeft = (left: PodView) => {
      const isSame = left.uid !== own && left.name === name && left.namespace === namespace;
      return isSame && (this.#recorded.has(left.uid) || this.#orphans.isPredecessor(left));
    };
    const worker = this.workers().find((each) => fullName(each.pod) === fullName(pod));
    return worker?.uid ?? this.#options.view.pods().find(isLeft)?.uid;
  }

  async #take(pod: Pod, signal: AbortSignal): Promise<void> {
    const origin = originOf(pod);
    const { records, executor, view, clock, log } = this.#options;
    const uid = pod.metadata?.uid ?? '';
    const known = this.#recorded.has(uid) ? await records.read(uid) : undefined;
    const isAgain = known !== undefined && isOver(known);
    const earlier = isAgain && view.isComplete() && view.pod(uid) === undefined ? known : undefined;
    const before = earlier === undefined ? known : undefined;
    const mayBeTaken = !isAgain || view.isComplete();
    const taken = mayBeTaken
      ? (before ?? (await this.#intake.decide(asGivenBefore(pod, this.#resizes !== undefined), origin)))
      : undefined;
    if (taken === undefined) {
      this.#isUndecided = true;
      return;
    }
    const begun = earlier === undefined ? taken : withEarlierLife(taken, earlier);
    const logged = withManifest(await withLogs(begun, pod, executor, log), pod);
    const record = withFirstAllocation(withReported(logged, pod), pod, this.#resizes !== undefined);
    this.#recorded.add(uid);
    // of a new one nothing is done yet: its first step writes it, and so nobody waits for the disk here
    const isWritten = before !== undefined;
    if (isWritten && record !== before)
      await records
        .write(uid, record)
        .catch((error: unknown) =>
          log.warn(`pod ${fullName(pod)} cannot be remembered: ${describeError(error)}`),
        );
    const worker = new PodWorker(this.#partsOf(uid), pod, origin, record, isWritten);
    if (isOfOtherManifest(record, pod)) this.#terminateGone(worker);
    this.#begin(worker, signal);
    log.debug(`pod ${fullName(pod)} is taken up at ${new Date(clock.now()).toISOString()}`);
  }

  #begin(worker: PodWorker, signal: AbortSignal): void {
    const { uid } = worker;
    this.#held.release(uid);
    holdObjects(this.#options, worker);
    const done = worker
      .run(signal)
      .catch((error: unknown) =>
        this.#options.log.error(`pod ${fullName(worker.pod)} is given up: ${describeError(error)}`),
      )
      .finally(() => {
        this.#workers.delete(uid);
        this.#options.objects.release(uid);
        if (!signal.aborted && !mayStillBeMade(worker.record, this.#options.clock.now()))
          this.#recorded.delete(uid);
        if (worker.record.termination?.cause === 'deleted') this.#finished.add(uid);
        this.#waker.wake();
      });
    this.#workers.set(uid, { worker, done });
  }

  #beginOrphan(found: PodView, record: PodRecord, signal: AbortSignal): void {
    const orphan = orphanOf(found, orphanGraceSeconds);
    const worker = new PodWorker(this.#partsOf(found.uid), orphan, 'api', record, true);
    this.#terminateGone(worker);
    this.#begin(worker, signal);
  }

  /** For a worker: what it has released may be what another pod waits for. */
  #partsOf(uid: string): WorkerParts {
    const onReleased = () => {
      this.#options.objects.release(uid);
      this.#waker.wake();
    };
    return { ...this.#options, onReleased };
  }
}

/** The oldest first, so that it keeps its place when there is not room for all. */
function inOrderOfAge(pods: Iterable<Pod>): Pod[] {
  return [...pods].sort((a, b) => importanceOf(b) - importanceOf(a) || compareForAdmission(a, b));
}
