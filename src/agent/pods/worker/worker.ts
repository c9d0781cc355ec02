import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../api/index.ts';
import { createBackoff, createWaker, describeError } from '../../../base/index.ts';
import type { Plan, PlanInput, PodFailure, PodOrigin, PodRecord, Step, Termination } from '../plan/index.ts';
import {
  deletionGraceOf,
  planPod,
  planUnseen,
  stepKey,
  withAllocation,
  withObserved,
  withRetriesDue,
} from '../plan/index.ts';
import { differsInOwnStatusOnly } from '../status/index.ts';
import type { PodPartIds, PodView } from '../view/types.ts';
import { changesRuntime } from './describe-step.ts';
import { KeptRecord } from './kept-record.ts';
import { isNotBegun, lookAt } from './look.ts';
import { addressOf } from './pod-names.ts';
import { probeTargets, withProbed } from './probed.ts';
import { joinTerminations, mayStillBeMade, WallClockChanges, withClockSet, withMessage } from './record.ts';
import { StepRunner } from './step-runner.ts';
import type { WorkerParts } from './types.ts';
import { UnseenActions } from './unseen.ts';
import { WantedImages } from './wanted-images.ts';

interface UnderWay {
  readonly step: Step;
  readonly end: AbortController;
  /** Never rejects. */
  readonly done: Promise<void>;
}

/** How long a stop of the agent waits for what must not be cut off. */
const finishMs = 5000;
/**
 * A pod is planned again after so long at most, by chance up to half of it earlier, though nothing was reported that concerns it: a
 * report that is lost holds it up no longer. The view that it is planned from is corrected by lists.
 */
const maxRestMs = 5 * 60_000;
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
  readonly #images: WantedImages;
  readonly #steps: StepRunner;
  readonly #messages = new Map<string, string>();
  #pod: Pod;
  readonly #record: KeptRecord;
  /** The object that was looked at last. */
  #lookedAt: Pod | undefined;
  readonly #unseen = new UnseenActions();
  /** Whether something has changed on the API that a start under way may not have seen. */
  #isGivenMore = false;
  readonly #wallClock: WallClockChanges;
  /** Why it cannot be seen: the last look at it failed. Undefined: it did not. */
  #unseenWhy: string | undefined;
  #plan: Plan | undefined;
  #problem: PodFailure | undefined;

  /** `isWritten`: the record is on disk. */
  constructor(parts: WorkerParts, pod: Pod, origin: PodOrigin, record: PodRecord, isWritten: boolean) {
    this.#parts = parts;
    this.#origin = origin;
    this.#pod = pod;
    this.#record = new KeptRecord(parts, pod.metadata?.uid ?? '', record, isWritten);
    this.#images = new WantedImages(parts.images);
    this.#steps = new StepRunner(parts, this.#record, this.#images);
    this.#wallClock = new WallClockChanges(parts.clock);
    this.#waker = createWaker(parts.clock);
    this.#take(pod);
  }

  get uid(): string {
    return this.#pod.metadata?.uid ?? '';
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** The pod with what the node has given it, in place of what its spec asks for. */
  get allocated(): Pod {
    return withAllocation(this.#pod, this.#record.value.allocation);
  }

  get origin(): PodOrigin {
    return this.#origin;
  }

  get record(): PodRecord {
    return this.#record.value;
  }

  /** Undefined before the first look. */
  get plan(): Plan | undefined {
    return this.#plan;
  }

  /** Why it does not go on, while it does not: the plan is older than that. */
  get problem(): PodFailure | undefined {
    return this.#problem;
  }

  /** Takes a newer state of the pod's object. */
  update(pod: Pod): void {
    if (differsInOwnStatusOnly(this.#pod, pod)) this.#pod = pod;
    else this.#take(pod);
  }

  #take(pod: Pod): void {
    this.#pod = pod;
    if (pod.metadata?.deletionTimestamp === undefined) this.wake();
    else
      this.terminate({
        ...{ cause: 'deleted', graceSeconds: deletionGraceOf(pod) },
        sinceMs: this.#parts.clock.now(),
      });
  }

  /** Decides that the pod ends; a second reason can only make it quicker. */
  terminate(termination: Termination): void {
    this.#followClock();
    const next = joinTerminations(this.#record.value.termination, termination);
    if (!isDeepStrictEqual(next, this.#record.value.termination)) {
      this.#record.change({ ...this.#record.value, termination: next });
      for (const { step, end } of this.#underWay.values())
        if (step.kind === 'start' || step.kind === 'runSandbox' || step.kind === 'prepare')
          end.abort(new Error('the pod ends'));
    }
    this.wake();
  }

  /** Keeps a decision about what the pod is given; the record before is what `change` gets. */
  decide(change: (record: PodRecord) => PodRecord): void {
    const before = this.#record.value;
    const next = change(before);
    if (next.allocation !== before.allocation) this.#steps.failures.forgetResize();
    this.#record.change(next);
    if (next !== before) this.wake();
  }

  /** Has what the runtime keeps of it removed, with its logs, if it has ended; its status stays. */
  clear(): void {
    this.decide((record) =>
      record.isReleased === true && record.isCleared !== true ? { ...record, isCleared: true } : record,
    );
  }

  #followClock(): void {
    this.#record.change(withClockSet(this.#record.value, this.#wallClock.takeChange()));
  }

  wake(): void {
    this.#waker.wake();
  }

  /** Tries at once to start what failed for lack of something that may be there now. */
  retryConfig(): void {
    this.#isGivenMore = true;
    this.#record.replace(withRetriesDue(this.#record.value));
    this.wake();
  }

  /** Resolves when nothing of the pod is left, or when `signal` aborts; containers run on then. */
  async run(signal: AbortSignal): Promise<void> {
    this.#record.start(signal);
    const backoff = createBackoff({ initialMs: 500, maxMs: 10_000, jitter: 0.2 });
    while (!signal.aborted) {
      try {
        if (await this.#step(signal)) return;
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        this.#noteProblem(describeError(error));
        await this.#waker.sleep(backoff.next(), signal);
      }
    }
    await this.#finish();
  }

  #noteProblem(message: string): void {
    const { teller, clock } = this.#parts;
    const before = this.#problem;
    const atMs = before?.atMs ?? clock.now();
    this.#problem = { reason: 'RuntimeNotReady', message, atMs, count: (before?.count ?? 0) + 1 };
    teller.did(this.#pod, `cannot go on: ${message}`);
  }

  /**
   * The runtime must not be left in the middle of making something, nor of freeing a network, of which a plugin that is
   * killed leaves a part: waits for that a bounded time.
   */
  async #finish(): Promise<void> {
    const settled = new AbortController();
    const kinds: ReadonlySet<Step['kind']> = new Set([
      'start',
      'runSandbox',
      'stopSandbox',
      'removeSandbox',
      'release',
    ]);
    const work = [...this.#underWay.values()]
      .filter(({ step }) => kinds.has(step.kind))
      .map(({ done }) => done);
    await Promise.race([Promise.allSettled(work), this.#parts.clock.sleep(finishMs, settled.signal)]);
    settled.abort();
  }

  /** One look, its plan and its steps. Returns whether nothing of the pod is left. */
  async #step(signal: AbortSignal): Promise<boolean> {
    const startMs = this.#parts.clock.monotonicMs();
    this.#followClock();
    const view = await this.#look(signal);
    const [input, plan] = this.#makePlan(view);
    this.#record.change(withProbed(this.#record.value, input.probes));
    this.#reportWaits(plan, this.#plan);
    this.#plan = plan;
    if (plan.terminate !== undefined) {
      const { reason, message = '' } = plan.terminate;
      if (reason !== undefined) this.#parts.teller.event(this.#pod, { type: 'Normal', reason, message });
      this.terminate(plan.terminate);
      return false;
    }
    await this.#readMessages(view);
    this.#parts.teller.planned(this.#pod, input, plan, this.#messages);
    this.#tellLook(startMs);
    const { cause } = this.#record.value.termination ?? {};
    if (plan.stage === 'ended' && cause !== undefined && cause !== 'failed') {
      await this.#end(cause);
      return true;
    }
    for (const step of plan.steps) this.#launch(step, signal);
    if (this.#unseen.isNone) await this.#waker.sleep(this.#restMs(plan), signal);
    return false;
  }

  #restMs({ wakeMs = Number.POSITIVE_INFINITY }: Plan): number {
    const untilMs = Math.max(0, wakeMs - this.#parts.clock.now());
    return Math.min(untilMs, maxRestMs * (0.5 + Math.random() / 2));
  }

  #tellLook(startMs: number): void {
    const { clock, onLooked } = this.#parts;
    const isChanged = this.#lookedAt !== this.#pod;
    const kind = this.#lookedAt === undefined ? 'create' : isChanged ? 'update' : 'sync';
    this.#lookedAt = this.#pod;
    onLooked?.(this.#isEnding() ? 'kill' : kind, (clock.monotonicMs() - startMs) / 1000);
  }

  /** An Event for each wait that is new, or has another message; images and volumes report their own. */
  #reportWaits({ wait, waits }: Plan, before: Plan | undefined): void {
    const { teller } = this.#parts;
    const { name = '', namespace = '' } = this.#pod.metadata ?? {};
    const isSame = before?.wait?.reason === wait?.reason && before?.wait?.message === wait?.message;
    if (wait?.reason === 'NetworkNotReady' && !isSame)
      teller.event(this.#pod, { type: 'Warning', reason: wait.reason, message: wait.message });
    for (const [container, { reason }] of waits) {
      if (reason !== 'CrashLoopBackOff' || before?.waits.get(container)?.reason === reason) continue;
      const message = `Back-off restarting failed container ${container} in pod ${name}_${namespace}(${this.uid})`;
      teller.event(this.#pod, { type: 'Warning', reason: 'BackOff', message }, container);
    }
  }

  /** Not older than the last action. */
  async #look(signal: AbortSignal): Promise<PodView | undefined> {
    if (this.#isNew()) this.#unseen.skip();
    const view = () => this.#parts.view.pod(this.uid);
    await this.#unseen.look(view(), (parts) => this.#read(parts, signal));
    this.#waker.forget(); // what has changed until here is in what is read from here on, without a wait
    const known = view();
    this.#record.note(withObserved(this.#record.value, known), signal);
    this.#problem = undefined;
    return known;
  }

  /** Nothing was done for it yet, and what the runtime has is known: it is not asked for each pod of a burst. */
  #isNew(): boolean {
    return this.#unseen.isFirst && this.#parts.view.isComplete() && isNotBegun(this.#pod, this.#record.value);
  }

  async #read(parts: PodPartIds | undefined, signal: AbortSignal): Promise<void> {
    try {
      await lookAt(this.#parts, this.#pod, this.#record.value, parts, signal);
      this.#unseenWhy = undefined;
    } catch (error) {
      if (!signal.aborted) this.#tellUnseen(describeError(error));
      throw error;
    }
  }

  /** What was known of it stands, with why it does not go on; what ran before this agent is not said to wait. */
  #tellUnseen(why: string): void {
    const { teller, view } = this.#parts;
    const message = `error determining status: ${why}`;
    if (this.#unseenWhy !== why) teller.event(this.#pod, { type: 'Warning', reason: 'FailedSync', message });
    this.#unseenWhy = why;
    if (this.#plan === undefined && !isNotBegun(this.#pod, this.#record.value)) return;
    const input = this.#inputOf(view.pod(this.uid));
    teller.planned(this.#pod, input, planUnseen(input, why), this.#messages);
  }

  #makePlan(view: PodView | undefined): [PlanInput, Plan] {
    for (let round = 1; ; round += 1) {
      const input = this.#inputOf(view);
      const plan = planPod(input);
      if (!this.#images.ask(plan) || round === maxRounds) return [input, plan];
    }
  }

  #inputOf(view: PodView | undefined): PlanInput {
    const { clock, settings, network } = this.#parts;
    const { isReady, message } = network();
    return {
      pod: this.allocated,
      origin: this.#origin,
      view,
      record: this.#record.value,
      underWay: [...this.#underWay.values()].map(({ step }) => step),
      nowMs: clock.now(),
      isPrepared: this.#steps.isPrepared,
      isNetworkReady: isReady,
      networkMessage: message,
      volumes: this.#isEnding() ? { state: 'ready' } : this.#parts.volumes.want(this.#pod),
      images: this.#isEnding() ? new Map() : this.#images.states(this.#pod),
      probes: this.#followProbes(view),
      sandboxFailure: this.#steps.failures.sandbox,
      resizeFailure: this.#steps.failures.resize,
      cleanupFailure: this.#steps.failures.cleanup,
      stopFailures: this.#steps.failures.stops,
      settings: settings(),
    };
  }

  #followProbes(view: PodView | undefined): PlanInput['probes'] {
    const { probes, hostIps } = this.#parts;
    const host = addressOf(this.#pod, view, hostIps());
    const owner = { pod: this.#pod, host, isEnding: this.#isEnding() };
    return probes.follow(owner, probeTargets(this.#pod, view, this.#record.value));
  }

  /** Nothing is set up any more: what was there may have been released. */
  #isEnding(): boolean {
    const { termination, isReleased } = this.#record.value;
    const isOver = this.#plan?.stage === 'terminating' || this.#plan?.stage === 'ended';
    return isOver || termination !== undefined || isReleased === true;
  }

  async #readMessages(view: PodView | undefined): Promise<void> {
    const exited = view?.containers.filter(({ state }) => state === 'exited') ?? [];
    for (const id of [...this.#messages.keys()])
      if (!exited.some((each) => each.id === id)) this.#messages.delete(id);
    for (const each of exited) {
      if (this.#messages.has(each.id)) continue;
      const message = await this.#parts.executor.messageOf(this.#pod, each);
      this.#messages.set(each.id, message);
      this.#record.change(withMessage(this.#record.value, each, message));
    }
  }

  /** Begins a step; one of the same key that is under way is a stop that was slower. */
  #launch(step: Step, signal: AbortSignal): void {
    const key = stepKey(step);
    this.#underWay.get(key)?.end.abort(new Error('a quicker stop takes its place'));
    const end = new AbortController();
    if (step.kind === 'start') this.#isGivenMore = false;
    const done = this.#steps
      .run(this.allocated, step, AbortSignal.any([signal, end.signal]))
      .catch((error: unknown) => {
        if (!signal.aborted && !end.signal.aborted) this.#steps.note(this.#pod, step, error);
        return undefined;
      })
      .then((effects) => {
        if (this.#underWay.get(key)?.end === end) this.#underWay.delete(key);
        if (changesRuntime(step)) this.#unseen.add(effects);
        if (step.kind === 'start' && this.#isGivenMore) this.retryConfig();
        this.wake();
      });
    this.#underWay.set(key, { step, end, done });
  }

  async #end(cause: Termination['cause']): Promise<void> {
    const { executor, teller, images, probes, clock } = this.#parts;
    await executor.forget(this.#pod);
    probes.forget(this.uid);
    this.#record.end();
    teller.ended(this.#pod, cause);
    images.forget(this.uid);
    await this.#record.remove(!mayStillBeMade(this.#record.value, clock.now()));
  }
}
