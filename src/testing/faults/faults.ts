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
import type { FaultBounds } from './active.ts';
import { ActiveFaults } from './active.ts';
import { FaultyStore } from './faulty-store.ts';
import { OpenWatches } from './open-watches.ts';
import { refusalOf } from './refusal.ts';
import { seenRequest, seenWrite } from './seen.ts';

/** What a fault does to a request. */
type RequestFault = FaultBounds<RequestMatch> & ({ refusal: StatusError } | { ms: number });

/**
 * The faults of one server, set by a test and put in its way: `intercept` before each request, `wrap` in front of its
 * store.
 */
export class ServerFaults implements Faults {
  readonly #requests = new ActiveFaults<SeenRequest, RequestFault>();
  readonly #writes = new ActiveFaults<SeenWrite, StorageFault>();
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
    return this.#requests.set({ times, match, refusal: refusalOf(fault) });
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

  /** Puts the faults of writes and of history in front of a store. */
  wrap(store: Store): Store {
    this.#store = new FaultyStore(store, { commit: (write, inner) => this.#commit(write, inner) });
    return this.#store;
  }

  /** What the server calls before it looks at a request. */
  readonly intercept = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = seenRequest(request);
    for (const { settings, cleared } of this.#requests.hitting(seen)) {
      if ('refusal' in settings) throw settings.refusal;
      await this.#clock.sleep(settings.ms, cleared);
    }
    if (seen.verb === 'watch') this.#watches.add(seen, request, response);
  };

  async #commit(write: Write, store: Store): Promise<Outcome> {
    for (const { settings } of this.#writes.hitting(seenWrite(write))) {
      const { how, written = false } = settings;
      if (how === 'unknown' && written) await store.commit(write);
      return { ok: false, code: how, cause: new Error(`a fault of the test: ${how}`) };
    }
    return await store.commit(write);
  }
}
