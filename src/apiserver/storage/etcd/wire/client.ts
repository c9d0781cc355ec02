import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Clock, Logger } from '../../../../base/index.ts';
import { createBackoff } from '../../../../base/index.ts';
import { Connection } from './connection.ts';
import type { Endpoint } from './endpoints.ts';
import { EtcdError } from './errors.ts';
import type { EtcdTimes, EtcdTls } from './options.ts';

export interface EtcdClientOptions {
  readonly endpoints: readonly Endpoint[];
  readonly tls: EtcdTls;
  readonly times: EtcdTimes;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface EtcdCall {
  /** Whether it may be done twice without harm: then it is tried again, on another member, until its time is over. */
  readonly repeatable: boolean;
  readonly cancel?: AbortSignal | undefined;
}

/** How long a member that failed is tried only after the others. */
const suspicionMs = 10_000;
const headStartMs = 500;

/**
 * The connection to a cluster: to one of its members at a time, and to another one as soon as that one fails, is silent or
 * has lost its leader. The member that answers first is taken.
 */
export class EtcdClient implements Disposable {
  readonly #options: EtcdClientOptions;
  readonly #end = new AbortController();
  readonly #suspects = new Map<Endpoint, number>();
  #current: Connection | undefined;
  #dialling: Promise<Connection> | undefined;
  #loggedUrl: string | undefined;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
  }

  /** For messages. */
  get name(): string {
    return this.#options.endpoints.map(({ url }) => url).join(', ');
  }

  /** The connection in use, or a new one; rejects with an EtcdError (`away`) after `withinMs`. */
  async connected(withinMs: number): Promise<Connection> {
    const current = this.#current;
    if (current !== undefined && !current.lost.aborted) return current;
    this.#dialling ??= this.#dial().finally(() => {
      this.#dialling = undefined;
    });
    return await this.#within(this.#dialling, withinMs);
  }

  /** Rejects with an EtcdError. */
  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    { repeatable, cancel = this.#end.signal }: EtcdCall,
  ): Promise<MessageShape<O>> {
    const { clock, times } = this.#options;
    const endMs = clock.monotonicMs() + times.callMs;
    const backoff = createBackoff({ initialMs: 20, maxMs: 500, jitter: 0.5 });
    for (;;) {
      const restMs = endMs - clock.monotonicMs();
      const connection = await this.connected(Math.min(restMs, times.connectMs));
      try {
        const tryMs = repeatable ? Math.min(restMs, times.callMs / 2) : restMs;
        return await connection.unary(method, request, { deadlineMs: tryMs, cancel });
      } catch (error) {
        if (!(error instanceof EtcdError) || cancel.aborted) throw error;
        if (error.reason === 'away' || error.reason === 'unknown') this.leave(connection);
        const again = error.reason === 'away' || (error.reason === 'unknown' && repeatable);
        const waitMs = backoff.next();
        if (!again || endMs - clock.monotonicMs() <= waitMs) throw error;
        await clock.sleep(waitMs, this.#end.signal);
      }
    }
  }

  /** Closes a connection whose member is not to be trusted for a while: the next call goes to another member, if any. */
  leave(connection: Connection): void {
    this.#suspects.set(connection.endpoint, this.#options.clock.monotonicMs());
    if (this.#current === connection) this.#current = undefined;
    connection[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#end.abort();
    this.#current?.destroy();
  }

  /** Dials all members at once, those that failed lately a little later, and takes the first that answers. */
  async #dial(): Promise<Connection> {
    if (this.#end.signal.aborted) throw new EtcdError('away', 'the connection to etcd is closed');
    const { endpoints, times } = this.#options;
    const others = new AbortController();
    const signal = AbortSignal.any([others.signal, this.#end.signal]);
    const tries = endpoints.map((endpoint) => this.#try(endpoint, times.connectMs, signal));
    try {
      const connection = await Promise.any(tries);
      this.#take(connection);
      return connection;
    } catch (error) {
      const all = error instanceof AggregateError ? error.errors : [error];
      throw new EtcdError('away', all.map(String).join('; '), { cause: error });
    } finally {
      others.abort();
      for (const other of tries)
        other.then((made) => this.#current === made || made[Symbol.dispose](), ignore);
    }
  }

  async #try(endpoint: Endpoint, withinMs: number, signal: AbortSignal): Promise<Connection> {
    const { clock, tls, endpoints } = this.#options;
    const failedMs = this.#suspects.get(endpoint);
    const isSuspect = failedMs !== undefined && clock.monotonicMs() - failedMs < suspicionMs;
    if (isSuspect && endpoints.length > 1) await clock.sleep(headStartMs, signal);
    return await Connection.open(endpoint, tls, withinMs, signal);
  }

  #take(connection: Connection): void {
    this.#current = connection;
    const { url } = connection.endpoint;
    if (this.#loggedUrl !== url) this.#options.log.info({ etcd: url }, 'connected to etcd');
    this.#loggedUrl = url;
  }

  async #within(dialling: Promise<Connection>, withinMs: number): Promise<Connection> {
    const enough = new AbortController();
    const late = this.#options.clock.sleep(withinMs, enough.signal).then(() => undefined);
    try {
      const connection = await Promise.race([dialling, late]);
      if (connection !== undefined) return connection;
    } finally {
      enough.abort();
    }
    throw new EtcdError('away', `none of ${this.name} answered within ${Math.round(withinMs)} ms`);
  }
}

/** For attempts that were given up. */
function ignore(): void {
  // another attempt succeeded, or the error of all together is reported
}
