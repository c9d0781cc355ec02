import type { Pod } from '../../../api/index.ts';
import { describeError } from '../../../base/index.ts';
import type { PodRecord, StartStep, Step } from '../plan/index.ts';
import { withBegun, withStarted, withStartFailure } from '../plan/index.ts';
import { changesRuntime, describeStep } from './describe-step.ts';
import type { KeptRecord } from './kept-record.ts';
import { isUnanswered, withoutAsked } from './record.ts';
import { StepFailures } from './step-failures.ts';
import type { WorkerParts } from './types.ts';
import type { WantedImages } from './wanted-images.ts';

/** Carries out the steps of one pod. What must outlive the agent is in the record before a step begins. */
export class StepRunner {
  readonly #parts: WorkerParts;
  readonly #record: KeptRecord;
  readonly #images: WantedImages;
  /** The ids of sandboxes that were stopped: to stop one again runs the plugins of its network once more. */
  readonly #stopped = new Set<string>();
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

  /** Rejects with why it failed; a start that fails is in the record. */
  async run(pod: Pod, step: Step, signal: AbortSignal): Promise<void> {
    this.#parts.teller.did(pod, describeStep(step));
    try {
      const begun = this.#withBegun(pod, step);
      if (begun !== this.#record.value || (this.#record.isNoted && changesRuntime(step)))
        await this.#record.save(begun);
      await this.#carryOut(pod, step, signal);
      this.failures.succeeded(step);
    } catch (error) {
      if (!isUnanswered(error)) this.#record.replace(withoutAsked(this.#record.value));
      throw error;
    }
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
    if (warning !== undefined) teller.event(pod, warning);
  }

  async #carryOut(pod: Pod, step: Step, signal: AbortSignal): Promise<void> {
    const { executor } = this.#parts;
    switch (step.kind) {
      case 'prepare':
        await executor.prepare(pod, signal);
        this.#isPrepared = true;
        return;
      case 'runSandbox':
        await this.#stopFirst(pod, step.stopFirst);
        await executor.runSandbox(pod, step.attempt, signal);
        this.#record.replace(withoutAsked(this.#record.value)); // kept with what the next look shows
        return;
      case 'stopSandbox':
        await executor.stopSandbox(pod, step.sandboxId);
        this.#stopped.add(step.sandboxId);
        return;
      case 'removeSandbox':
        await this.#stopFirst(pod, [step.sandboxId]);
        await executor.removeSandbox(step.sandboxId);
        this.#stopped.delete(step.sandboxId);
        return;
      case 'start':
        return await this.#start(pod, step, signal);
      case 'stop':
        return await executor.stop(pod, step, this.#viewOf(pod), signal);
      case 'removeContainer':
        return await executor.removeContainer(pod, step, this.#viewOf(pod), signal);
      case 'release':
        await this.#stopFirst(pod, step.stopFirst);
        await executor.release(pod);
        await this.#record.save({ ...this.#record.value, isReleased: true });
        this.#parts.onReleased?.();
    }
  }

  #viewOf({ metadata }: Pod) {
    return this.#parts.view.pod(metadata?.uid ?? '');
  }

  #withBegun(pod: Pod, step: Step): PodRecord {
    const begun = withBegun(this.#record.value, step, this.#viewOf(pod));
    const makes = step.kind === 'runSandbox' || step.kind === 'start';
    return makes ? { ...begun, askedMs: this.#parts.clock.now() } : begun;
  }

  /** Those that have ended; one that was stopped needs it no second time. */
  async #stopFirst(pod: Pod, sandboxIds: readonly string[] = []): Promise<void> {
    for (const id of sandboxIds) {
      if (this.#stopped.has(id)) continue;
      await this.#parts.executor.stopSandbox(pod, id);
      this.#stopped.add(id);
    }
  }

  async #start(pod: Pod, step: StartStep, signal: AbortSignal): Promise<void> {
    const { executor, clock } = this.#parts;
    const image = this.#images.imageOf(pod, step);
    const isEnding = () => this.#record.value.termination !== undefined;
    const outcome = await executor.start({ pod, step, image, view: this.#viewOf(pod), isEnding }, signal);
    if (outcome.isStarted || outcome.isUnanswered !== true)
      this.#record.replace(withoutAsked(this.#record.value));
    this.#record.change(
      outcome.isStarted
        ? withStarted(this.#record.value, step)
        : withStartFailure(this.#record.value, step.container, outcome, clock.now()),
    );
  }
}
