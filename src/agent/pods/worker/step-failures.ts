import type { Clock } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { PodFailure, Step } from '../plan/index.ts';
import { stepKey } from '../plan/index.ts';
import { ClaimsError } from './types.ts';

/** An Event about a pod. */
interface Warning {
  readonly type: 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Why the last steps of a pod failed, each until one of its kind succeeds; starts of containers are in the record. */
export class StepFailures {
  readonly #clock: Pick<Clock, 'now'>;
  /** By `stepKey`. */
  readonly #stops = new Map<string, PodFailure>();
  #sandbox: PodFailure | undefined;
  #cleanup: PodFailure | undefined;
  #resize: PodFailure | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** For `PlanInput.sandboxFailure`, `cleanupFailure`, `resizeFailure` and `stopFailures`. */
  get sandbox(): PodFailure | undefined {
    return this.#sandbox;
  }

  get cleanup(): PodFailure | undefined {
    return this.#cleanup;
  }

  get resize(): PodFailure | undefined {
    return this.#resize;
  }

  get stops(): ReadonlyMap<string, PodFailure> {
    return this.#stops;
  }

  /** Returns the Event to report, if any. */
  failed(step: Step, error: unknown): Warning | undefined {
    const key = stepKey(step);
    const message = describeError(error);
    switch (step.kind) {
      case 'prepare':
      case 'runSandbox':
        return this.#noSandbox(error instanceof ClaimsError, message);
      case 'stop':
      case 'stopSandbox':
        this.#stops.set(key, this.#count(this.#stops.get(key), 'FailedKillPod', message));
        return warning('FailedKillPod', `error killing pod: ${message}`);
      case 'resize':
        this.#resize = this.#count(this.#resize, 'ResizeError', message);
        return undefined; // it is reported with what was asked for
      case 'removeContainer':
        this.#stops.set(key, this.#count(this.#stops.get(key), 'FailedCleanup', message));
        this.#cleanup = this.#count(this.#cleanup, 'FailedCleanup', message);
        return undefined;
      default:
        this.#cleanup = this.#count(this.#cleanup, 'FailedCleanup', message);
        return undefined;
    }
  }

  /** A sandbox that could only be prepared has not been made yet. */
  succeeded(step: Step): void {
    this.#stops.delete(stepKey(step));
    if (step.kind === 'runSandbox') this.#sandbox = undefined;
    if (step.kind === 'resize') this.forgetResize();
    const cleans =
      step.kind === 'removeSandbox' || step.kind === 'removeContainer' || step.kind === 'release';
    if (cleans) this.#cleanup = undefined;
  }

  /** Another resize is tried at once. */
  forgetResize(): void {
    this.#resize = undefined;
  }

  #noSandbox(isOfClaims: boolean, message: string): Warning {
    const reason = isOfClaims ? 'FailedPrepareDynamicResources' : 'FailedCreatePodSandBox';
    this.#sandbox = this.#count(this.#sandbox, reason, message);
    return warning(
      reason,
      `Failed to ${isOfClaims ? 'prepare dynamic resources' : 'create pod sandbox'}: ${message}`,
    );
  }

  #count(before: PodFailure | undefined, reason: string, message: string): PodFailure {
    return { reason, message, atMs: this.#clock.now(), count: (before?.count ?? 0) + 1 };
  }
}

const warning = (reason: string, message: string): Warning => ({ type: 'Warning', reason, message });
