import type { Pod } from '../../../api/index.ts';
import { describeError, Semaphore } from '../../../base/index.ts';
import type { PodRecord, ResizeStep, StartStep, Step, StopStep } from '../plan/index.ts';
import { withAttempt, withBegun, withResized, withStarted, withStartFailure } from '../plan/index.ts';
import { changesRuntime, describeStep } from './describe-step.ts';
import type { KeptRecord } from './kept-record.ts';
import { isUnanswered, withAsked } from './record.ts';
import { resizeCompleted, resizeFailed } from './resize-events.ts';
import { StepFailures } from './step-failures.ts';
import type { StartOutcome, WorkerParts } from './types.ts';
import type { Effect } from './unseen.ts';
import type { WantedImages } from './wanted-images.ts';

/**
 * How many containers of a pod are stopped at a time. They have one process of containerd between them (the shim), which hangs for
 * good when 60 are stopped at once.
 */
const maxStops = 24;
/** As a plan gives at least. */
const minStopSeconds = 2;

/** Of a pod that had one before: its containers start again. */
const sandboxChanged = {
  type: 'Normal',
  reason: 'SandboxChanged',
  message: 'Pod sandbox changed, it will be killed and re-created.',
} as const;

/** Carries out the steps of one pod. What must outlive the agent is in the record before a step begins. */
export class StepRunner {
  readonly #parts: WorkerParts;
  readonly #record: KeptRecord;
  readonly #images: WantedImages;
  /** The ids of sandboxes that were stopped: to stop one again runs the plugins of its network once more. */
  readonly #stopped = new Set<string>();
  readonly #stops = new Semaphore(() => maxStops);
  readonly failures: StepFailures;
  #isPrepared = false;

  constructor(parts: WorkerParts, record: KeptRecord, images: WantedImages) {
    this.#parts = parts;
    this.#record = record;
    this.#images = images;
    this.failures = new StepFailures(parts.clock);
  }

  /** Whether its folders and cgroup were made by this agent since it has started. */
  get isPrepared(): boolean {
    return this.#isPrepared;
  }

  /**
   * Resolves to what the runtime must have afterwards; undefined where that is not known. Rejects with why it failed; a start that
   * fails is in the record.
   */
  async run(pod: Pod, step: Step, signal: AbortSignal): Promise<readonly Effect[] | undefined> {
    this.#parts.teller.did(pod, describeStep(step));
    const before = this.#record.value;
    try {
      const begun = this.#withBegun(pod, step);
      const mustBeKept = step.kind === 'resize' || (this.#record.isNoted && changesRuntime(step));
      if (begun !== this.#record.value || mustBeKept) await this.#record.save(begun);
      const effects = await this.#carryOut(pod, step, before, signal);
      this.failures.succeeded(step);
      return effects;
    } catch (error) {
      if (makes(step) && !isUnanswered(error)) this.#answered(before);
      throw error;
    }
  }

  /** What was asked for earlier, by an agent that was killed too, may still come to be. Kept with what the next look shows. */
  #answered({ askedMs }: PodRecord): void {
    this.#record.replace(withAsked(this.#record.value, askedMs));
  }

  /** Keeps and reports why a step failed. */
  note(pod: Pod, step: Step, error: unknown): void {
    const { teller, clock, log } = this.#parts;
    const message = describeError(error);
    const { name = '', namespace = '' } = pod.metadata ?? {};
    log.debug({ pod: `${namespace}/${name}` }, `cannot ${describeStep(step)}: ${message}`);
    teller.did(pod, `cannot ${describeStep(step)}: ${message}`);
    if (step.kind === 'start') {
      const failed = { reason: 'CreateContainerError', message };
      this.#record.change(withStartFailure(this.#record.value, step.container, failed, clock.now()));
      return;
    }
    const warning = this.failures.failed(step, error);
    const { allocation } = this.#record.value;
    if (step.kind === 'resize' && this.failures.resize?.count === 1)
      teller.event(pod, resizeFailed(pod, allocation?.generation ?? 0, message));
    if (warning !== undefined) teller.event(pod, warning);
  }

  async #carryOut(
    pod: Pod,
    step: Step,
    before: PodRecord,
    signal: AbortSignal,
  ): Promise<readonly Effect[] | undefined> {
    const { executor } = this.#parts;
    switch (step.kind) {
      case 'prepare':
        await executor.prepare(pod, signal);
        this.#isPrepared = true;
        return [];
      case 'runSandbox': {
        if ((this.#viewOf(pod)?.sandboxes ?? []).length > 0) this.#parts.teller.event(pod, sandboxChanged);
        await this.#stopFirst(pod, step.stopFirst);
        const sandboxId = await executor.runSandbox(pod, step.attempt, signal);
        this.#answered(before);
        return [{ sandboxId, is: 'running' }];
      }
      case 'stopSandbox':
        await executor.stopSandbox(pod, step.sandboxId);
        this.#stopped.add(step.sandboxId);
        return [{ sandboxId: step.sandboxId, is: 'ended' }];
      case 'removeSandbox':
        await this.#stopFirst(pod, [step.sandboxId]);
        await executor.removeSandbox(step.sandboxId);
        this.#stopped.delete(step.sandboxId);
        return [{ sandboxId: step.sandboxId, is: 'gone' }];
      case 'start':
        return await this.#start(pod, step, before, signal);
      case 'stop':
        await this.#stops.run(() => this.#stop(pod, step, signal));
        return this.#effectOn(pod, step, 'ended');
      case 'resize':
        await executor.resize(pod, step);
        this.#resized(pod, step, before);
        return undefined; // no event of the runtime says what is in force now
      case 'removeContainer':
        await executor.removeContainer(pod, step, this.#viewOf(pod), signal);
        return this.#effectOn(pod, step, 'gone');
      case 'release':
        await this.#stopFirst(pod, step.stopFirst);
        await executor.release(pod);
        await this.#keepReleased();
        this.#parts.onReleased?.();
        return [];
    }
  }

  #resized(pod: Pod, step: ResizeStep, begun: PodRecord): void {
    this.#record.change(withResized(this.#record.value, step, begun));
    const { allocation } = begun;
    if (begun.replaced === undefined || this.#record.value.replaced !== undefined) return;
    this.#parts.teller.event(pod, resizeCompleted(pod, allocation?.generation ?? 0));
  }

  /** The record of a pod whose object goes is soon removed; another agent that finds it before releases once more, which does no harm. */
  async #keepReleased(): Promise<void> {
    const released = { ...this.#record.value, isReleased: true };
    const { cause = 'failed' } = released.termination ?? {};
    if (cause === 'failed') await this.#record.save(released);
    else this.#record.replace(released);
  }

  /** Within what is left of its grace when others had to go first. */
  async #stop(pod: Pod, step: StopStep, signal: AbortSignal): Promise<void> {
    const { executor, clock } = this.#parts;
    signal.throwIfAborted();
    const leftSeconds = Math.ceil((step.deadlineMs - clock.now()) / 1000);
    const graceSeconds = Math.min(step.graceSeconds, Math.max(leftSeconds, minStopSeconds));
    await executor.stop(pod, { ...step, graceSeconds }, this.#viewOf(pod), signal);
  }

  /** Of a container that the view has no more there is nothing to see. */
  #effectOn(pod: Pod, { containerId }: { readonly containerId: string }, is: Effect['is']): Effect[] {
    const known = this.#viewOf(pod)?.containers.find(({ id }) => id === containerId);
    return known === undefined ? [] : [{ sandboxId: known.sandboxId, containerId, is }];
  }

  #viewOf({ metadata }: Pod) {
    return this.#parts.view.pod(metadata?.uid ?? '');
  }

  #withBegun(pod: Pod, step: Step): PodRecord {
    const begun = withBegun(this.#record.value, step, this.#viewOf(pod));
    return makes(step) ? { ...begun, askedMs: this.#parts.clock.now() } : begun;
  }

  /** Those that have ended; one that was stopped needs it no second time. */
  async #stopFirst(pod: Pod, sandboxIds: readonly string[] = []): Promise<void> {
    for (const id of sandboxIds) {
      if (this.#stopped.has(id)) continue;
      await this.#parts.executor.stopSandbox(pod, id);
      this.#stopped.add(id);
    }
  }

  async #start(
    pod: Pod,
    step: StartStep,
    before: PodRecord,
    signal: AbortSignal,
  ): Promise<readonly Effect[] | undefined> {
    const { executor, clock } = this.#parts;
    const image = this.#images.imageOf(pod, step);
    const isEnding = () => this.#record.value.termination !== undefined;
    const volumeImages = this.#images.volumeImagesOf(pod, step);
    const work = { pod, step, image, volumeImages, view: this.#viewOf(pod), isEnding };
    const outcome = await executor.start(work, signal);
    if (outcome.isStarted || outcome.isUnanswered !== true) this.#answered(before);
    this.#record.change(
      outcome.isStarted
        ? withStarted(this.#record.value, step)
        : withStartFailure(this.#recordOf(step, before, outcome), step.container, outcome, clock.now()),
    );
    if (!outcome.isStarted) return undefined;
    return [{ sandboxId: step.sandboxId, containerId: outcome.containerId, is: 'running' }];
  }

  /** An attempt that the runtime never heard of is the next one's: attempts are in the names of logs. */
  #recordOf(
    { container }: StartStep,
    before: PodRecord,
    { isAsked }: StartOutcome & { isStarted: false },
  ): PodRecord {
    const { value } = this.#record;
    return isAsked === false ? withAttempt(value, container, before.containers[container]?.attempt) : value;
  }
}

/** Whether the runtime is asked for something that it may make after nobody waits any more. */
function makes({ kind }: Step): boolean {
  return kind === 'runSandbox' || kind === 'start';
}
