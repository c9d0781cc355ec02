import type { Clock } from '../../base/index.ts';
import { noReason, Semaphore } from '../../base/index.ts';
import type { ProbeOutcome } from './types.ts';

/** So long a command counts as one that starts, at most: then the next may start, however long this one runs on. */
const maxStartMs = 2000;
/** Commands at once: each is a process in its container, and a call that the runtime keeps open. A pod chooses how long they run. */
const maxOfNode = 64;
/** So that no single pod takes all of them. */
const maxOfPod = 16;

/** Runs the commands of one pod's probes. */
export interface PodCommands {
  /**
   * Calls `run` as soon as it may start, and waits for its end. Its outcome is unknown, and `run` is not called, where too many are
   * under way. Rejects as `run`, or with the reason of `signal` while it waits.
   */
  run(run: () => Promise<ProbeOutcome>, signal: AbortSignal): Promise<ProbeOutcome>;
}

/** The commands of all probes of the node: how many start at a time, and how many are under way. */
export class ProbeCommands {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #starts: Semaphore;
  /** How many are under way, by pod uid. */
  readonly #ofPods = new Map<string, number>();
  #running = 0;

  /** Starting a process costs the runtime a lot: `startsAtOnce` bounds that. */
  constructor(clock: Pick<Clock, 'sleep'>, startsAtOnce: () => number) {
    this.#clock = clock;
    this.#starts = new Semaphore(startsAtOnce);
  }

  ofPod(uid: string): PodCommands {
    return { run: (run, signal) => this.#run(uid, run, signal) };
  }

  async #run(uid: string, run: () => Promise<ProbeOutcome>, signal: AbortSignal): Promise<ProbeOutcome> {
    using start = await this.#starts.acquire(signal);
    const fault = this.#findFault(uid);
    if (fault !== undefined) return { result: 'unknown', why: fault };
    const ended = new AbortController();
    void this.#clock.sleep(maxStartMs, ended.signal).then(() => start[Symbol.dispose]());
    this.#count(uid, 1);
    try {
      return await run();
    } finally {
      this.#count(uid, -1);
      ended.abort(noReason);
    }
  }

  #findFault(uid: string): string | undefined {
    const tooMany = (count: number, whose: string) =>
      `${count} commands of probes of ${whose} are under way, and no more may be at once; shorten those that run long, or their timeoutSeconds`;
    if ((this.#ofPods.get(uid) ?? 0) >= maxOfPod) return tooMany(maxOfPod, 'this pod');
    return this.#running >= maxOfNode ? tooMany(maxOfNode, 'this node') : undefined;
  }

  #count(uid: string, more: 1 | -1): void {
    this.#running += more;
    const ofPod = (this.#ofPods.get(uid) ?? 0) + more;
    if (ofPod === 0) this.#ofPods.delete(uid);
    else this.#ofPods.set(uid, ofPod);
  }
}
