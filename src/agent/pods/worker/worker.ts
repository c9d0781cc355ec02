import type { Pod } from '../../../api/index.ts';
import { createBackoff, createWaker, describeError } from '../../../base/index.ts';
import type { ImageState } from '../../images/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type {
  Plan,
  PlanInput,
  PodFailure,
  PodOrigin,
  PodRecord,
  StartStep,
  Step,
  Termination,
} from '../plan/index.ts';
import { planPod, stepKey, withBegun, withObserved, withStartFailure } from '../plan/index.ts';
import type { PodView } from '../view/types.ts';
import { describeStep } from './describe-step.ts';
import { findContainer } from './pod-names.ts';
import { joinTerminations, withMessage, withoutFailure } from './record.ts';
import type { WorkerParts } from './types.ts';

interface UnderWay {
  readonly step: Step;
  readonly end: AbortController;
  /** Never rejects. */
  readonly done: Promise<void>;
}

/** A view that takes longer is logged as the reason why nothing happens. */
const lookTimeoutMs = 10_000;
/** How long a stop of the agent waits for starts that are under way. */
const finishMs = 5000;
/** How many images of a plan are asked for before the next look. */
const maxRounds = 3;

/**
 * Brings one pod from what is there to what should be: looks, plans, carries out the steps, and looks again. Decisions are the
 * plan's; here is only order: a plan is never made from a view that is older than the last action on the pod.
 */
export class PodWorker {
  readonly #parts: WorkerParts;
  readonly #origin: PodOrigin;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #waker: ReturnType<typeof createWaker>;
  /** The attempt of each container whose image was asked for. */
  readonly #wanted = new Map<string, number>();
  readonly #messages = new Map<string, string>();
  #pod: Pod;
  #record: PodRecord;
  #isPrepared = false;
  /** How many actions have ended, and how many had when the last look began. */
  #actions = 1;
  #knownActions = 0;
  #sandboxFailure: PodFailure | undefined;
  #cleanupFailure: PodFailure | undefined;
  /** By `stepKey`. */
  readonly #stopFailures = new Map<string, PodFailure>();
  #plan: Plan | undefined;

  constructor(parts: WorkerParts, pod: Pod, origin: PodOrigin, record: PodRecord) {
    this.#parts = parts;
    this.#origin = origin;
    this.#pod = pod;
    this.#record = record;
    this.#waker = createWaker(parts.clock);
    this.update(pod);
  }

  get uid(): string {
    return this.#pod.metadata?.uid ?? '';
  }

  get pod(): Pod {
    return this.#pod;
  }

  get origin(): PodOrigin {
    return this.#origin;
  }

  get record(): PodRecord {
    return this.#record;
  }

  /** Undefined before the first look. */
  get plan(): Plan | undefined {
    return this.#plan;
  }

  /** Takes a newer state of the pod's object. */
  update(pod: Pod): void {
    this.#pod = pod;
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {};
    const { terminationGracePeriodSeconds = 30 } = pod.spec ?? {};
    const graceSeconds = deletionGracePeriodSeconds ?? terminationGracePeriodSeconds;
    if (deletionTimestamp === undefined) this.wake();
    else this.terminate({ cause: 'deleted', graceSeconds, sinceMs: this.#parts.clock.now() });
  }

  /** Decides that the pod ends; a second reason can only make it quicker. */
  terminate(termination: Termination): void {
    const next = joinTerminations(this.#record.termination, termination);
    if (JSON.stringify(next) !== JSON.stringify(this.#record.termination)) {
      this.#change({ ...this.#record, termination: next });
      for (const { step, end } of this.#underWay.values())
        if (step.kind === 'start' || step.kind === 'runSandbox' || step.kind === 'prepare')
          end.abort(new Error('the pod ends'));
    }
    this.wake();
  }

  wake(): void {
    this.#waker.wake();
  }

  /** Resolves when nothing of the pod is left, or when `signal` aborts; containers run on then. */
  async run(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({ initialMs: 500, maxMs: lookTimeoutMs, jitter: 0.2 });
    while (!signal.aborted) {
      try {
        if (await this.#step(signal)) return;
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.teller.did(this.#pod, `cannot go on: ${describeError(error)}`);
        await this.#waker.sleep(backoff.next(), signal);
      }
    }
    await this.#finishStarts();
  }

  /** The runtime must not be left in the middle of making something: waits for that a bounded time. */
  async #finishStarts(): Promise<void> {
    const settled = new AbortController();
    const isStart = ({ step }: UnderWay) => step.kind === 'start' || step.kind === 'runSandbox';
    const starts = [...this.#underWay.values()].filter(isStart).map(({ done }) => done);
    await Promise.race([Promise.allSettled(starts), this.#parts.clock.sleep(finishMs, settled.signal)]);
    settled.abort();
  }

  /** One look, its plan and its steps. Returns whether nothing of the pod is left. */
  async #step(signal: AbortSignal): Promise<boolean> {
    const view = await this.#look(signal);
    const [input, plan] = this.#makePlan(view);
    this.#reportWaits(plan, this.#plan);
    this.#plan = plan;
    if (plan.terminate !== undefined) {
      this.terminate(plan.terminate);
      return false;
    }
    await this.#readMessages(view);
    this.#parts.teller.planned(this.#pod, input, plan, this.#messages);
    const { cause } = this.#record.termination ?? {};
    if (plan.stage === 'ended' && cause !== undefined && cause !== 'failed') {
      await this.#end(cause);
      return true;
    }
    for (const step of plan.steps) this.#launch(step, signal);
    const waitMs =
      plan.wakeMs === undefined ? Number.POSITIVE_INFINITY : plan.wakeMs - this.#parts.clock.now();
    if (this.#knownActions === this.#actions) await this.#waker.sleep(Math.max(0, waitMs), signal);
    return false;
  }

  /** An Event for each wait that is new; images report their own. */
  #reportWaits({ wait, waits }: Plan, before: Plan | undefined): void {
    const { teller } = this.#parts;
    const { name = '', namespace = '' } = this.#pod.metadata ?? {};
    const isReported = wait?.reason === 'FailedMount' || wait?.reason === 'NetworkNotReady';
    if (isReported && before?.wait?.reason !== wait.reason)
      teller.event(this.#pod, { type: 'Warning', reason: wait.reason, message: wait.message });
    for (const [container, { reason }] of waits) {
      if (reason !== 'CrashLoopBackOff' || before?.waits.get(container)?.reason === reason) continue;
      const message = `Back-off restarting failed container ${container} in pod ${name}_${namespace}(${this.uid})`;
      teller.event(this.#pod, { type: 'Warning', reason: 'BackOff', message }, container);
    }
  }

  /** Not older than the last action. */
  async #look(signal: AbortSignal): Promise<PodView | undefined> {
    const { view } = this.#parts;
    const actions = this.#actions;
    const isFresh = this.#knownActions === actions;
    const known = isFresh ? view.pod(this.uid) : await this.#refresh(signal);
    this.#knownActions = actions;
    this.#change(withObserved(this.#record, known));
    return known;
  }

  /** A runtime that is not there has nothing of a pod that was never begun: such a one waits for it, and may end without it. */
  async #refresh(signal: AbortSignal): Promise<PodView | undefined> {
    const { view, clock } = this.#parts;
    const settled = new AbortController();
    const late = new AbortController();
    void clock
      .sleep(lookTimeoutMs, settled.signal)
      .then(() => late.abort(new Error('the runtime does not answer')));
    try {
      return await view.refresh(this.uid, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      const isAway = error instanceof RuntimeError && error.reason === 'unavailable';
      if (isAway && !signal.aborted && this.#isNotBegun()) return undefined;
      throw error;
    } finally {
      settled.abort();
    }
  }

  /** By what the agent remembers, and by what another agent has logged the API. */
  #isNotBegun(): boolean {
    const { sandboxAttempt, containers } = this.#record;
    const { containerStatuses = [], initContainerStatuses = [] } = this.#pod.status ?? {};
    const logged = [...containerStatuses, ...initContainerStatuses].some(
      ({ containerID = '' }) => containerID !== '',
    );
    return sandboxAttempt === undefined && Object.keys(containers).length === 0 && !logged;
  }

  #makePlan(view: PodView | undefined): [PlanInput, Plan] {
    for (let round = 1; ; round += 1) {
      const input = this.#inputOf(view);
      const plan = planPod(input);
      const wanted = plan.imagesWanted.filter(
        ({ container, attempt }) => this.#wanted.get(container) !== attempt,
      );
      for (const { container, attempt } of wanted) this.#wanted.set(container, attempt);
      if (wanted.length === 0 || round === maxRounds) return [input, plan];
    }
  }

  #inputOf(view: PodView | undefined): PlanInput {
    const { clock, settings, network } = this.#parts;
    const { isReady, message } = network();
    return {
      pod: this.#pod,
      origin: this.#origin,
      view,
      record: this.#record,
      underWay: [...this.#underWay.values()].map(({ step }) => step),
      nowMs: clock.now(),
      isPrepared: this.#isPrepared,
      isNetworkReady: isReady,
      networkMessage: message,
      volumes: this.#isEnding() ? { state: 'ready' } : this.#parts.volumes.want(this.#pod),
      images: this.#isEnding() ? new Map() : this.#readImages(),
      probes: new Map(),
      sandboxFailure: this.#sandboxFailure,
      cleanupFailure: this.#cleanupFailure,
      stopFailures: this.#stopFailures,
      settings: settings(),
    };
  }

  /** Nothing is set up any more: what was there may have been released. */
  #isEnding(): boolean {
    const { termination, isReleased } = this.#record;
    const isOver = this.#plan?.stage === 'terminating' || this.#plan?.stage === 'ended';
    return isOver || termination !== undefined || isReleased === true;
  }

  #readImages(): Map<string, ImageState> {
    const { images } = this.#parts;
    const states = new Map<string, ImageState>();
    for (const [container, attempt] of this.#wanted) {
      const found = findContainer(this.#pod, container);
      if (found === undefined) continue;
      const { image = '', imagePullPolicy } = found;
      const pullPolicy =
        imagePullPolicy === 'Always' || imagePullPolicy === 'Never' ? imagePullPolicy : 'IfNotPresent';
      states.set(container, images.want({ pod: this.#pod, container, image, pullPolicy, attempt }));
    }
    return states;
  }

  async #readMessages(view: PodView | undefined): Promise<void> {
    const exited = view?.containers.filter(({ state }) => state === 'exited') ?? [];
    for (const id of [...this.#messages.keys()])
      if (!exited.some((each) => each.id === id)) this.#messages.delete(id);
    for (const each of exited) {
      if (this.#messages.has(each.id)) continue;
      const message = await this.#parts.executor.messageOf(this.#pod, each);
      this.#messages.set(each.id, message);
      this.#change(withMessage(this.#record, each, message));
    }
  }

  /** Begins a step; one of the same key that is under way is a stop that was slower. */
  #launch(step: Step, signal: AbortSignal): void {
    const key = stepKey(step);
    this.#underWay.get(key)?.end.abort(new Error('a quicker stop takes its place'));
    const end = new AbortController();
    const done = this.#carryOut(step, AbortSignal.any([signal, end.signal]))
      .catch((error: unknown) => {
        if (!signal.aborted && !end.signal.aborted) this.#failed(step, error);
      })
      .finally(() => {
        if (this.#underWay.get(key)?.end === end) this.#underWay.delete(key);
        this.#actions += 1;
        this.wake();
      });
    this.#underWay.set(key, { step, end, done });
  }

  async #carryOut(step: Step, signal: AbortSignal): Promise<void> {
    const { executor, view, teller } = this.#parts;
    const pod = this.#pod;
    teller.did(pod, describeStep(step));
    const begun = withBegun(this.#record, step, view.pod(this.uid));
    if (begun !== this.#record) await this.#save(begun);
    switch (step.kind) {
      case 'prepare':
        await executor.prepare(pod, signal);
        this.#isPrepared = true;
        return;
      case 'runSandbox':
        for (const id of step.stopFirst ?? []) await executor.stopSandbox(pod, id, signal);
        await executor.runSandbox(pod, step.attempt, signal);
        this.#sandboxFailure = undefined;
        return;
      case 'stopSandbox':
        await executor.stopSandbox(pod, step.sandboxId, signal);
        this.#stopFailures.delete(stepKey(step));
        return;
      case 'removeSandbox':
        await executor.stopSandbox(pod, step.sandboxId, signal);
        await executor.removeSandbox(step.sandboxId, signal);
        this.#cleanupFailure = undefined;
        return;
      case 'start':
        return await this.#start(step, signal);
      case 'stop':
        await executor.stop(pod, step, view.pod(this.uid), signal);
        this.#stopFailures.delete(stepKey(step));
        return;
      case 'removeContainer':
        await executor.removeContainer(step.containerId, signal);
        this.#stopFailures.delete(stepKey(step));
        this.#cleanupFailure = undefined;
        return;
      case 'release':
        for (const id of step.stopFirst ?? []) await executor.stopSandbox(pod, id, signal);
        await executor.release(pod);
        this.#cleanupFailure = undefined;
        await this.#save({ ...this.#record, isReleased: true });
        this.#parts.onReleased?.();
    }
  }

  async #start(step: StartStep, signal: AbortSignal): Promise<void> {
    const { executor, view, clock } = this.#parts;
    const work = { pod: this.#pod, step, image: this.#imageOf(step), view: view.pod(this.uid) };
    const outcome = await executor.start(work, signal);
    this.#change(
      outcome.isStarted
        ? withoutFailure(this.#record, step.container)
        : withStartFailure(this.#record, step.container, outcome, clock.now()),
    );
  }

  #imageOf({ container, imageId }: StartStep) {
    const state = this.#readImages().get(container);
    return state?.state === 'present' && state.id === imageId ? state : { id: imageId, user: {} };
  }

  #failed(step: Step, error: unknown): void {
    const { teller, clock, log } = this.#parts;
    const message = describeError(error);
    const { name = '', namespace = '' } = this.#pod.metadata ?? {};
    log.debug({ pod: `${namespace}/${name}` }, `cannot ${describeStep(step)}: ${message}`);
    teller.did(this.#pod, `cannot ${describeStep(step)}: ${message}`);
    const failure = (before: PodFailure | undefined, reason: string): PodFailure => ({
      ...{ reason, message, atMs: clock.now(), count: (before?.count ?? 0) + 1 },
    });
    switch (step.kind) {
      case 'prepare':
      case 'runSandbox': {
        this.#sandboxFailure = failure(this.#sandboxFailure, 'FailedCreatePodSandBox');
        const text = `Failed to create pod sandbox: ${message}`;
        teller.event(this.#pod, { type: 'Warning', reason: 'FailedCreatePodSandBox', message: text });
        break;
      }
      case 'stop':
      case 'stopSandbox': {
        const key = stepKey(step);
        this.#stopFailures.set(key, failure(this.#stopFailures.get(key), 'FailedKillPod'));
        const text = `error killing pod: ${message}`;
        teller.event(this.#pod, { type: 'Warning', reason: 'FailedKillPod', message: text });
        break;
      }
      case 'start': {
        const failed = { reason: 'CreateContainerError', message };
        this.#change(withStartFailure(this.#record, step.container, failed, clock.now()));
        break;
      }
      case 'removeContainer': {
        const key = stepKey(step);
        this.#stopFailures.set(key, failure(this.#stopFailures.get(key), 'FailedCleanup'));
        this.#cleanupFailure = failure(this.#cleanupFailure, 'FailedCleanup');
        break;
      }
      default:
        this.#cleanupFailure = failure(this.#cleanupFailure, 'FailedCleanup');
    }
  }

  async #end(cause: Termination['cause']): Promise<void> {
    const { executor, teller, records, images } = this.#parts;
    await executor.forget(this.#pod);
    teller.ended(this.#pod, cause);
    images.forget(this.uid);
    await records.remove(this.uid);
  }

  /** Keeps it now, and on disk as soon as that is possible. */
  #change(record: PodRecord): void {
    if (record !== this.#record) void this.#save(record).catch(() => undefined); // logged and tried again by the file
  }

  async #save(record: PodRecord): Promise<void> {
    this.#record = record;
    await this.#parts.records.write(this.uid, record);
  }
}
