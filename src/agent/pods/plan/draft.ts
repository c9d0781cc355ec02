import { pendingUntilMs, retryAtMs } from './backoff.ts';
import type { ImageNeed, Plan, PlanInput, Stage, Step, StopStep, Termination, Wait } from './types.ts';
import { stepKey } from './types.ts';

/** Clocks and rounding make deadlines differ by less than this. */
const quickerByMs = 500;
/** What must stop is tried again at least that often. */
const maxStopRetryMs = 10_000;

/** A plan that is being written: it keeps steps apart that must not be under way together. */
export class Draft {
  readonly #input: PlanInput;
  readonly #steps = new Map<string, Step>();
  readonly #waits = new Map<string, Wait>();
  readonly #images = new Map<string, ImageNeed>();
  #wakeMs: number | undefined;
  #wait: Wait | undefined;
  #restartsAll: Wait | undefined;
  #terminate: Termination | undefined;

  constructor(input: PlanInput) {
    this.#input = input;
  }

  /** Whether a step of that key is under way, or is already in this plan. */
  isBusy(key: string): boolean {
    return this.#steps.has(key) || this.#input.underWay.some((step) => stepKey(step) === key);
  }

  /** Adds the step unless one of its key is there; a stop also when it ends the container earlier. */
  add(step: Step): void {
    const key = stepKey(step);
    if (this.#steps.has(key)) return;
    const same = this.#input.underWay.filter((each) => stepKey(each) === key);
    if (same.length > 0 && !(step.kind === 'stop' && isQuicker(step, same))) return;
    if (same.length === 0 && this.#mustWait(step, key)) return;
    this.#steps.set(key, step);
  }

  wake(atMs: number | undefined): void {
    if (atMs === undefined || atMs <= this.#input.nowMs) return;
    this.#wakeMs = Math.min(this.#wakeMs ?? atMs, atMs);
  }

  /** What the container waits for; the first one counts. */
  waitFor(container: string, wait: Wait): void {
    if (!this.#waits.has(container)) this.#waits.set(container, wait);
    this.wake(wait.untilMs);
  }

  /** What the pod as a whole waits for; the first one counts. */
  waitForPod(wait: Wait): void {
    this.#wait ??= wait;
    this.wake(wait.untilMs);
  }

  wantImage(container: string, attempt: number): void {
    if (!this.#images.has(container)) this.#images.set(container, { container, attempt });
  }

  restartAll(wait: Wait): void {
    this.#restartsAll = wait;
  }

  terminate(termination: Termination): void {
    this.#terminate = termination;
  }

  finish(stage: Stage): Plan {
    return {
      stage,
      steps: [...this.#steps.values()],
      wakeMs: this.#wakeMs,
      wait: this.#wait,
      waits: this.#waits,
      terminate: this.#terminate,
      imagesWanted: [...this.#images.values()],
      restartsAll: this.#restartsAll,
    };
  }

  #mustWait(step: Step, key: string): boolean {
    const failure = this.#input.stopFailures?.get(key);
    if (failure === undefined || (step.kind === 'stop' && step.graceSeconds === 0)) return false;
    const retryMs = Math.min(retryAtMs(failure), failure.atMs + maxStopRetryMs);
    const untilMs = pendingUntilMs(failure, retryMs, this.#input.nowMs);
    this.wake(untilMs);
    return untilMs !== undefined;
  }
}

function isQuicker(step: StopStep, underWay: readonly Step[]): boolean {
  return underWay.every((other) => {
    if (other.kind !== 'stop') return false;
    if (step.graceSeconds === 0) return other.graceSeconds > 0;
    return step.graceSeconds < other.graceSeconds && step.deadlineMs < other.deadlineMs - quickerByMs;
  });
}
