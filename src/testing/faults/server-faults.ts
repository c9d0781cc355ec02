import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StatusError } from '../../api/index.ts';
import type { Outcome, Store, Write } from '../../apiserver/storage/index.ts';
import type {
  AnswerFault,
  Clock,
  DelayFault,
  Fault,
  Faults,
  RequestMatch,
  SeenRequest,
  SeenWrite,
  StorageFault,
} from '../types.ts';
import { describeRequest, describeWrite } from './describe.ts';
import type { FaultBounds } from './fault-set.ts';
import { FaultSet, matches } from './fault-set.ts';
import { FaultyStore } from './faulty-store.ts';
import { toStatusError } from './to-status-error.ts';

/** Answers a request with an error, or delays it. */
type RequestFault = FaultBounds<RequestMatch> & ({ error: StatusError } | { ms: number });

/** The faults of one server, set by a test. The server calls `intercept` for each request; `wrap` wraps its store. */
export class ServerFaults implements Faults {
  readonly #requests = new FaultSet<SeenRequest, RequestFault>();
  readonly #writes = new FaultSet<SeenWrite, StorageFault>();
  readonly #watches = new OpenWatches();
  readonly #clock: Clock;
  #store: FaultyStore | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async expireHistory(): Promise<string> {
    if (this.#store === undefined) throw new Error('the server has no store yet');
    return String(await this.#store.expire());
  }

  dropWatches(match?: RequestMatch): number {
    return this.#watches.drop(match);
  }

  answer(fault: AnswerFault): Fault {
    const { times, match } = fault;
    return this.#requests.set({ times, match, error: toStatusError(fault) });
  }

  delay(fault: DelayFault): Fault {
    return this.#requests.set(fault);
  }

  failStorage(fault: StorageFault): Fault {
    return this.#writes.set(fault);
  }

  diskFull(): Fault {
    return this.failStorage({ how: 'full' });
  }

  clear(): void {
    this.#requests.clear();
    this.#writes.clear();
  }

  /** Returns a store with the faults of writes and of history. */
  wrap(store: Store): Store {
    this.#store = new FaultyStore(store, { commit: (write, inner) => this.#commit(write, inner) });
    return this.#store;
  }

  /** Called by the server before it processes a request. */
  readonly intercept = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const described = describeRequest(request);
    for (const { settings, cleared } of this.#requests.hits(described)) {
      if ('error' in settings) throw settings.error;
      await this.#clock.sleep(settings.ms, cleared);
    }
    if (described.verb === 'watch') this.#watches.add(described, request, response);
  };

  async #commit(write: Write, store: Store): Promise<Outcome> {
    for (const { settings } of this.#writes.hits(describeWrite(write))) {
      const { how, written = false } = settings;
      if (how === 'unknown' && written) await store.commit(write);
      return { ok: false, code: how, cause: new Error(`a fault of the test: ${how}`) };
    }
    return await store.commit(write);
  }
}

class OpenWatches {
  readonly #open = new Map<ServerResponse, { described: SeenRequest; request: IncomingMessage }>();

  add(described: SeenRequest, request: IncomingMessage, response: ServerResponse): void {
    this.#open.set(response, { described, request });
    response.once('close', () => this.#open.delete(response));
    if (response.destroyed) this.#open.delete(response);
  }

  /**
   * Closes the connections of those that match, over HTTP/2 with all other streams on them. Returns the number of
   * watches that match.
   */
  drop(match: RequestMatch | undefined): number {
    const dropped = [...this.#open.values()].filter(({ described }) => matches(match, described));
    for (const { request } of dropped) request.socket.destroy();
    return dropped.length;
  }
}
