import type { Clock } from '../../../base/index.ts';
import { DeadlineError, mapConcurrently, withDeadline } from '../../../base/index.ts';
import type { PodCalls } from '../../runtime/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { Moment } from './entries.ts';
import type { Listed, PodTable } from './pod-table.ts';
import type { PodPartIds } from './types.ts';

/** A list of thousands takes less than a second; one that takes this long does not come. */
const listTimeoutMs = 30_000;
/** Of each status. The runtime answers in a millisecond, unless the container's process hangs. */
const statusTimeoutMs = 10_000;
/** Statuses of one pod at a time. */
const readsOfPod = 4;

export type ViewCalls = Pick<
  PodCalls,
  'listSandboxes' | 'listContainers' | 'sandboxStatus' | 'containerStatus' | 'events'
>;

/** Asks the runtime and puts its answers into the table. Each call has a deadline of its own. */
export class PodReader {
  readonly #calls: ViewCalls;
  readonly #table: PodTable;
  readonly #clock: Clock;
  #order = 0;

  constructor(calls: ViewCalls, table: PodTable, clock: Clock) {
    this.#calls = calls;
    this.#table = table;
    this.#clock = clock;
  }

  moment(atMs = this.#clock.now()): Moment {
    this.#order += 1;
    return { order: this.#order, atMs };
  }

  /** Of all pods, or of one. Rejects with a RuntimeError. */
  async list(signal: AbortSignal, podUid?: string): Promise<Listed> {
    const ask = <T>(what: string, call: (cancel: AbortSignal) => Promise<T>) =>
      this.#within(listTimeoutMs, `the list of ${what}`, signal, call);
    const [sandboxes, containers] = await Promise.all([
      ask('sandboxes', (cancel) => this.#calls.listSandboxes(podUid, cancel)),
      ask('containers', (cancel) => this.#calls.listContainers(podUid, cancel)),
    ]);
    return { sandboxes, containers };
  }

  /** Reads parts of one pod. After the first failure it asks nothing more; rejects with a RuntimeError. */
  async read(toRead: PodPartIds, signal: AbortSignal): Promise<void> {
    const reads = [
      ...toRead.sandboxes.map(
        ({ id }) =>
          () =>
            this.#readSandbox(id, signal),
      ),
      ...toRead.containers.map(
        ({ id, podSandboxId }) =>
          () =>
            this.#readContainer(id, podSandboxId, signal),
      ),
    ];
    await mapConcurrently(reads, readsOfPod, (read) => read());
  }

  async #readSandbox(id: string, signal: AbortSignal): Promise<void> {
    const moment = this.moment();
    const what = `the status of sandbox ${id}`;
    const status = await this.#within(statusTimeoutMs, what, signal, (cancel) =>
      this.#calls.sandboxStatus(id, cancel),
    );
    if (status === undefined) this.#table.remove(id, moment);
    else this.#table.putSandbox(status, moment);
  }

  async #readContainer(id: string, sandboxId: string, signal: AbortSignal): Promise<void> {
    const moment = this.moment();
    const what = `the status of container ${id}`;
    const status = await this.#within(statusTimeoutMs, what, signal, (cancel) =>
      this.#calls.containerStatus(id, cancel),
    );
    if (status === undefined) this.#table.remove(id, moment);
    else this.#table.putContainer(status, sandboxId, moment);
  }

  async #within<T>(
    timeoutMs: number,
    what: string,
    signal: AbortSignal,
    call: (cancel: AbortSignal) => Promise<T>,
  ): Promise<T> {
    try {
      return await withDeadline({ clock: this.#clock, timeoutMs, signal }, what, call);
    } catch (error) {
      if (error instanceof DeadlineError) throw new RuntimeError('timeout', error.message, { cause: error });
      if (signal.aborted) throw new RuntimeError('cancelled', `${what} is not waited for any more`);
      throw error;
    }
  }
}
