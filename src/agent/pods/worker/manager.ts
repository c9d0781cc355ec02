import type { Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { BoundedMap, createWaker, describeError } from '../../../base/index.ts';
import type { Neighbour } from '../admission/index.ts';
import { compareForAdmission } from '../admission/index.ts';
import { annotationOf, fullName, sourceAnnotation } from '../names.ts';
import type { PodOrigin, PodRecord } from '../plan/index.ts';
import type { PodSource } from '../types.ts';
import type { PodView } from '../view/types.ts';
import { newRecord } from './record.ts';
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

  constructor(options: PodManagerOptions) {
    this.#options = options;
    this.#waker = createWaker(options.clock);
  }

  worker(uid: string): PodWorker | undefined {
    return this.#workers.get(uid)?.worker;
  }

  workers(): readonly PodWorker[] {
    return [...this.#workers.values()].map(({ worker }) => worker);
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
    this.#isUndecided = false;
    for (const pod of this.#inOrder(wanted.values())) {
      if (signal.aborted) return;
      const uid = pod.metadata?.uid ?? '';
      const isDone = this.#workers.has(uid) || this.#finished.has(uid);
      if (isDone || this.#isNameTaken(pod)) continue;
      if (!this.#recorded.has(uid) && this.#mayBeOrphaned(wanted)) this.#isUndecided = true;
      else await this.#take(pod, signal).catch((error: unknown) => this.#complain(uid, fullName(pod), error));
    }
    await this.#endOrphans(signal);
  }

  /** What an earlier agent took up and nobody wants may still run, under the name of a new pod. */
  #mayBeOrphaned(wanted: ReadonlyMap<string, Pod>): boolean {
    if (this.#options.view.isComplete()) return false;
    return [...this.#recorded].some((uid) => !wanted.has(uid) && !this.#workers.has(uid));
  }

  /** Those that were taken up before keep their place; then the important ones, and the oldest. */
  #inOrder(pods: Iterable<Pod>): Pod[] {
    const rank = ({ metadata }: Pod) => (this.#recorded.has(metadata?.uid ?? '') ? 0 : 1);
    return inOrderOfAge(pods).sort((a, b) => rank(a) - rank(b));
  }

  /** Logs each reason once; the other pods go on. */
  #complain(uid: string, name: string, error: unknown): void {
    const why = describeError(error);
    if (this.#complaints.get(uid) === why) return;
    this.#complaints.set(uid, why);
    this.#options.log.warn(`pod ${name} cannot be taken up, trying on: ${why}`);
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

  #isNameTaken(pod: Pod): boolean {
    const { uid: own, name = '', namespace = 'default' } = pod.metadata ?? {};
    const isLeft = ({ uid, ...left }: PodView) =>
      uid !== own && left.name === name && left.namespace === namespace && this.#recorded.has(uid);
    return (
      this.workers().some((worker) => fullName(worker.pod) === fullName(pod)) ||
      this.#options.view.pods().some(isLeft)
    );
  }

  async #take(pod: Pod, signal: AbortSignal): Promise<void> {
    const origin = originOf(pod);
    const { records, clock, log } = this.#options;
    const uid = pod.metadata?.uid ?? '';
    const before = await records.read(uid);
    const record = before ?? (await this.#admit(pod, origin));
    if (record === undefined) {
      this.#isUndecided = true;
      return;
    }
    this.#recorded.add(uid);
    if (before === undefined)
      await records
        .write(uid, record)
        .catch((error: unknown) =>
          log.warn(`pod ${fullName(pod)} cannot be remembered: ${describeError(error)}`),
        );
    this.#begin(new PodWorker(this.#partsOf(), pod, origin, record), signal);
    log.debug(`pod ${fullName(pod)} is taken up at ${new Date(clock.now()).toISOString()}`);
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
    if (verdict?.isAdmitted !== true || staying.length === here.length) return verdict;
    const beside = await this.#options.admit(pod, origin, here.map(toNeighbour));
    return beside?.isAdmitted === true ? beside : undefined;
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
    const done = worker
      .run(signal)
      .catch((error: unknown) =>
        this.#options.log.error(`pod ${fullName(worker.pod)} is given up: ${describeError(error)}`),
      )
      .finally(() => {
        this.#workers.delete(uid);
        if (!signal.aborted) this.#recorded.delete(uid);
        if (worker.record.termination?.cause === 'deleted') this.#finished.add(uid);
        this.#waker.wake();
      });
    this.#workers.set(uid, { worker, done });
  }

  /**
   * What the runtime has of pods that this agent took up and no source has any more is ended; records of which nothing is left
   * are removed. Without a record a pod is another agent's, and is let be.
   */
  async #endOrphans(signal: AbortSignal): Promise<void> {
    const { view, records } = this.#options;
    for (const found of view.pods()) {
      if (!this.#isOrphan(found.uid)) continue;
      if (this.#recorded.has(found.uid)) await this.#endOrphan(found, signal);
      else this.#tellOfForeign(found);
    }
    for (const uid of [...this.#recorded]) {
      if (signal.aborted || !this.#isOrphan(uid) || view.pod(uid) !== undefined) continue;
      this.#recorded.delete(uid);
      await records.remove(uid);
    }
  }

  async #endOrphan(found: PodView, signal: AbortSignal): Promise<void> {
    const { records, clock } = this.#options;
    const record = (await records.read(found.uid)) ?? { ...newRecord(clock.now()), isAdmitted: true };
    if (signal.aborted || !this.#isOrphan(found.uid)) return;
    const worker = new PodWorker(this.#partsOf(), orphanOf(found), 'api', record);
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
  #tellOfForeign({ uid, namespace, name }: PodView): void {
    if (this.#foreign.get(uid) !== undefined) return;
    this.#foreign.set(uid, true);
    this.#options.log.info(
      `pod ${namespace}/${name} (${uid}) runs in the container runtime, was not started by this agent and is meant for no pod of this node: it is let be`,
    );
  }
}

function originOf(pod: Pod): PodOrigin {
  const source = annotationOf(pod, sourceAnnotation);
  return source === 'file' || source === 'http' ? source : 'api';
}

/** The oldest first, so that it keeps its place when there is not room for all. */
function inOrderOfAge(pods: Iterable<Pod>): Pod[] {
  const priority = ({ spec }: Pod) => spec?.priority ?? 0;
  return [...pods].sort((a, b) => priority(b) - priority(a) || compareForAdmission(a, b));
}

/** What is needed to end a pod of which only the runtime knows. */
function orphanOf({ uid, namespace, name, containers }: PodView): Pod {
  const names = [...new Set(containers.map((each) => each.name))];
  return {
    metadata: { uid, namespace, name },
    spec: {
      containers: names.map((each) => ({ name: each })),
      terminationGracePeriodSeconds: orphanGraceSeconds,
    },
  };
}
