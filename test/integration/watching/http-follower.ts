import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from '../../../src/api/index.ts';
import { leaseKind, StatusError } from '../../../src/api/index.ts';
import type { ApiClient, WatchEvent } from '../../../src/client/index.ts';
import { ConnectionError } from '../../../src/client/index.ts';
import { waitFor } from '../../support/index.ts';
import type { LeaseLog } from './lease-log.ts';

/** What the server is at now: where it is reached, and from where on it has history. */
export interface Reached {
  readonly api: ApiClient;
  /** Versions before it are gone; grows. */
  readonly oldest: number;
  /** How often history was forgotten, which also ends the watches of that time with 410. */
  readonly expiries: number;
}

/** Before the next try at a server that is gone. */
const retryMs = 10;

interface Received {
  readonly version: number;
  readonly line: string | undefined;
}

/** Watches leases as a careful client does: at its own pace, on from what it has received, anew after a 410. */
export class HttpFollower {
  readonly #reached: () => Reached;
  readonly #log: LeaseLog;
  readonly #onlyEven: boolean;
  #from: number | undefined;
  #initial: string[] | undefined;
  #received: Received[] = [];
  #gate: PromiseWithResolvers<void> | undefined;
  #stop = new AbortController();
  #following: Promise<void> = Promise.resolve();
  #failure: unknown;

  /** Without a version it begins with the state. */
  constructor(reached: () => Reached, log: LeaseLog, onlyEven: boolean, version: number | undefined) {
    this.#reached = reached;
    this.#log = log;
    this.#onlyEven = onlyEven;
    this.#from = version;
    this.#begin();
  }

  pause(): void {
    this.#gate ??= Promise.withResolvers<void>();
  }

  resume(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  /** Forgets the latest of what it has received and goes on behind the rest. */
  async leaveOff(index: number): Promise<void> {
    await this.stop();
    this.#received.length = index % (this.#received.length + 1);
    this.#begin();
  }

  /** Ends its watch. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.resume();
    await this.#following;
  }

  /** When nothing is written any more: comes to the end, and has received what was written. */
  async finish(): Promise<void> {
    this.resume();
    const expected = () =>
      this.#from === undefined ? undefined : this.#log.eventsAfter(this.#from, this.#selects);
    const isComplete = () => {
      const events = expected();
      return this.#failure !== undefined || (events !== undefined && this.#lines.length >= events.length);
    };
    await waitFor('all events', isComplete).catch(() => undefined);
    await this.stop();
    if (this.#failure !== undefined) throw this.#failure;
    assert.deepEqual(this.#lines, expected());
    if (this.#initial === undefined) return;
    assert.deepEqual(this.#initial.toSorted(), this.#log.stateAt(this.#from ?? 0, this.#selects));
  }

  readonly #selects = (value: number): boolean => !this.#onlyEven || value % 2 === 0;

  get #lines(): string[] {
    return this.#received.flatMap(({ line }) => line ?? []);
  }

  get #at(): number | undefined {
    return this.#received.at(-1)?.version ?? this.#from;
  }

  #begin(): void {
    this.#stop = new AbortController();
    this.#following = this.#follow(this.#stop.signal).catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  /** Watches again and again until `signal` aborts. */
  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [at, { expiries }] = [this.#at, this.#reached()];
      if (at === undefined) [this.#initial, this.#received] = [[], []];
      try {
        await this.#watchOnce(at, signal);
      } catch (error) {
        if (isPassing(error)) {
          await sleep(retryMs);
          continue;
        }
        if (!(error instanceof StatusError) || error.code !== 410) throw error;
        const now = this.#reached();
        assert.ok((at ?? 0) < now.oldest || now.expiries > expiries, `${at} is not forgotten`);
        [this.#from, this.#received] = [undefined, []];
      }
    }
  }

  async #watchOnce(at: number | undefined, signal: AbortSignal): Promise<void> {
    const from =
      at === undefined
        ? ({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const)
        : { resourceVersion: String(at) };
    const labels = this.#onlyEven ? { labelSelector: 'even=true' } : {};
    const options = { namespace: 'default', allowWatchBookmarks: true, signal, ...from, ...labels };
    for await (const event of this.#reached().api.watch(leaseKind, options)) {
      if (signal.aborted) return;
      this.#take(event);
      await this.#gate?.promise;
    }
  }

  #take({ type, object }: WatchEvent<Lease>): void {
    const { name = '', resourceVersion, annotations = {} } = object.metadata ?? {};
    const version = Number(resourceVersion);
    const line = `${type} ${name} ${object.spec?.leaseTransitions}@${version}`;
    if (this.#from === undefined) {
      if (type !== 'BOOKMARK') this.#initial?.push(line);
      else if (annotations['k8s.io/initial-events-end'] === 'true') this.#from = version;
      else assert.fail('a bookmark among the initial events');
      return;
    }
    const at = this.#at ?? 0;
    assert.ok(type === 'BOOKMARK' ? version >= at : version > at, `${line} after ${at}`);
    this.#received.push({ version, line: type === 'BOOKMARK' ? undefined : line });
  }
}

/** Of a server that stops, or is not there. */
function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof StatusError && error.code === 503);
}
