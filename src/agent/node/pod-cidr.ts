import type { Clock, Logger, Service } from '../../base/index.ts';
import { createBackoff, createWaker, describeError } from '../../base/index.ts';

export interface PodCidrOptions {
  /** Of the configuration: what counts until the Node has one. */
  readonly configured: readonly string[];
  /** Passes it to the runtime, which may write the configuration of its network from it. */
  send(podCidr: string, signal: AbortSignal): Promise<void>;
  /** Whether an error means that the runtime does not take it at all. */
  isRefused(error: unknown): boolean;
  /** Calls `listener` when the runtime may have been started again, and so may have forgotten it. */
  onRuntimeStart(listener: () => void): Disposable;
  readonly clock: Clock;
  readonly log: Logger;
}

const retry = { initialMs: 1000, maxMs: 60_000, jitter: 0.2 };
/** One for each family of addresses, as the API takes them. */
const maxRanges = 2;

/** Keeps the runtime informed of the addresses that the node's pods have (`spec.podCIDRs` of the Node). */
export class PodCidr {
  readonly #options: PodCidrOptions;
  readonly #waker: ReturnType<typeof createWaker>;
  #wanted: string;
  /** What the runtime was given last; undefined: nothing, or it may have forgotten that. */
  #sent: string | undefined;
  /** What was logged last. */
  #problem = '';

  constructor(options: PodCidrOptions) {
    this.#options = options;
    this.#waker = createWaker(options.clock);
    this.#wanted = options.configured.join(',');
  }

  /** Takes what the Node has; a Node that has none yet changes nothing. */
  follow(podCidrs: readonly string[]): void {
    const next = podCidrs.slice(0, maxRanges).join(',');
    if (next === '' || next === this.#wanted) return;
    this.#options.log.info({ podCIDR: next }, 'the addresses of pods have changed');
    this.#wanted = next;
    this.#waker.wake();
  }

  /** Of a service. */
  readonly run: Service['run'] = async (signal, ready) => {
    using _watch = this.#options.onRuntimeStart(() => {
      this.#sent = undefined;
      this.#waker.wake();
    });
    const backoff = createBackoff(retry);
    ready();
    while (!signal.aborted) {
      const isSent = this.#wanted === '' || this.#wanted === this.#sent || (await this.#send(signal));
      if (isSent) backoff.reset();
      await this.#waker.sleep(isSent ? Number.POSITIVE_INFINITY : backoff.next(), signal);
    }
  };

  /** Returns whether there is nothing to try again. */
  async #send(signal: AbortSignal): Promise<boolean> {
    const { log, isRefused, send } = this.#options;
    const wanted = this.#wanted;
    this.#sent = wanted; // before the call: a start of the runtime in the meantime takes it back
    try {
      await send(wanted, signal);
      this.#problem = '';
      return true;
    } catch (error) {
      const problem = describeError(error);
      if (isRefused(error)) {
        log.debug(`the runtime takes no addresses of pods: ${problem}`);
        return true;
      }
      this.#sent = undefined;
      if (problem !== this.#problem && !signal.aborted)
        log.warn(`failed to update pod CIDR: ${problem}; tried again`);
      this.#problem = problem;
      return false;
    }
  }
}
