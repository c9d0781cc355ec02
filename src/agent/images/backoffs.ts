import type { Clock } from '../../base/index.ts';

const initialMs = 10_000;
const maxMs = 300_000;

/** Why an image could not be pulled for a pod, and when that may be tried again. */
export interface PullFailure {
  readonly reason: string;
  readonly message: string;
  /** Monotonic. */
  readonly atMs: number;
  readonly waitMs: number;
}

/**
 * The waits after failed pulls, for each pod and image: 10 s, doubled up to 300 s. Containers of a pod that have the same
 * image share them. When nothing failed for ten minutes the first wait follows again.
 */
export class PullBackoffs {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Map<string, PullFailure>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  failed(podUid: string, image: string, reason: string, message: string): PullFailure {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#failures.get(podUid)?.get(image);
    const goesOn = before !== undefined && nowMs - before.atMs <= 2 * maxMs;
    const waitMs = goesOn ? Math.min(before.waitMs * 2, maxMs) : initialMs;
    const failure = { reason, message, atMs: nowMs, waitMs };
    const ofPod = this.#failures.get(podUid) ?? new Map<string, PullFailure>();
    this.#failures.set(podUid, ofPod.set(image, failure));
    return failure;
  }

  succeeded(podUid: string, image: string): void {
    const ofPod = this.#failures.get(podUid);
    ofPod?.delete(image);
    if (ofPod?.size === 0) this.#failures.delete(podUid);
  }

  forget(podUid: string): void {
    this.#failures.delete(podUid);
  }

  /** The failure after which the pod still waits for that image, with the rest of the wait. */
  current(podUid: string, image: string): { failure: PullFailure; remainingMs: number } | undefined {
    const failure = this.#failures.get(podUid)?.get(image);
    if (failure === undefined) return undefined;
    const remainingMs = failure.atMs + failure.waitMs - this.#clock.monotonicMs();
    return remainingMs > 0 ? { failure, remainingMs } : undefined;
  }
}
