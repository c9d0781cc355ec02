import type { Lease } from '../../../src/api/index.ts';
import { leaseKind } from '../../../src/api/index.ts';
import type { ApiClient, WatchEvent } from '../../../src/client/index.ts';
import { ConnectionError } from '../../../src/client/index.ts';

/**
 * Watches the leases that `writeUntilGone` writes, over any number of servers, from the last version it has received.
 * Each of their writes counts up, so a step that is missing or comes twice shows.
 */
export class LeaseWatcher {
  /** What is wrong with what was received, in sentences. */
  readonly problems: string[] = [];
  /** Of every event. */
  readonly versions = new Set<number>();
  readonly #present = new Map<string, number>();
  #at: number;
  resumed = 0;

  /** `from`: a version at which there is no lease. */
  constructor(from: number) {
    this.#at = from;
  }

  /** The last version received. */
  get at(): number {
    return this.#at;
  }

  /** Until the server is gone or `signal` aborts. Rejects when the server refuses to go on from there. */
  async follow(api: ApiClient, signal?: AbortSignal): Promise<void> {
    this.resumed += 1;
    const resourceVersion = String(this.#at);
    const options = { namespace: 'default', resourceVersion, allowWatchBookmarks: true };
    try {
      for await (const event of api.watch(leaseKind, { ...options, ...(signal ? { signal } : {}) })) {
        this.#take(event);
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }

  #take({ type, object }: WatchEvent<Lease>): void {
    const version = Number(object.metadata?.resourceVersion);
    if (type === 'BOOKMARK' ? version < this.#at : version <= this.#at) {
      this.problems.push(`${type} at ${version} after ${this.#at}`);
    }
    this.#at = version;
    if (type === 'BOOKMARK') return;
    this.versions.add(version);
    const name = object.metadata?.name ?? '';
    const count = object.spec?.leaseTransitions ?? 0;
    const before = this.#present.get(name) ?? 0;
    if (count !== (type === 'DELETED' ? before : before + 1) || (type === 'ADDED') !== (before === 0)) {
      this.problems.push(`${type} ${name} ${count} at ${version} after ${before}`);
    }
    if (type === 'DELETED') this.#present.delete(name);
    else this.#present.set(name, count);
  }
}
