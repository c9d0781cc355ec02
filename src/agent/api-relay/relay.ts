import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { createBackoff, createWaker, describeError, errorCode } from '../../base/index.ts';
import { ApiClient } from '../../client/index.ts';
import type { ApiAddress, ApiForPods } from './address.ts';

export interface ApiRelayOptions {
  /** Where pods are to reach the API. */
  where(): ApiForPods;
  /** PEM of the authorities that may have issued the certificate of the API. */
  ca(): string;
  /** Calls `listener` when either may have changed; the addresses of the node are looked at by themselves. */
  onChange(listener: () => void): Disposable;
  /** Whether the node or a pod of it has the address. */
  isOfNode(ip: string): boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How often the addresses of the node are looked at. */
const lookMs = 10_000;
const backoff = { initialMs: 500, maxMs: 30_000 };
/** Connections at a time; programs have a handful each. */
const maxConnections = 2000;
const maxPerSource = 256;

/**
 * Passes connections of this node's pods on to a control plane that listens for this machine alone. It listens on the
 * address of the node, with the port of the control plane, and lets in nobody but pods of this node and the node itself. Bytes
 * are passed on as they are: the pod and the control plane talk TLS with each other.
 */
export class ApiRelay {
  readonly #options: ApiRelayOptions;
  readonly #waker;
  #listening: Listening | undefined;
  #problem: { readonly sinceMs: number; readonly message: string } | undefined;
  /** The address that is the control plane's own, for which nothing needs to be passed on. */
  #direct: string | undefined;
  /** Connections by source. */
  readonly #sources = new Map<string, number>();
  #refused = false;

  constructor(options: ApiRelayOptions) {
    this.#options = options;
    this.#waker = createWaker(options.clock);
  }

  /** Where pods reach the API now, or why they cannot. */
  get state(): ApiForPods {
    const wanted = this.#options.where();
    if ('missing' in wanted || wanted.relayTo === undefined) return wanted;
    return this.#problem === undefined ? wanted : { missing: this.#problem.message };
  }

  /** Why pods cannot reach the API now, for people, and since when: milliseconds of the wall clock. */
  get problem(): { readonly sinceMs: number; readonly message: string } | undefined {
    return this.#problem;
  }

  readonly run: Service['run'] = async (signal, ready) => {
    const waits = createBackoff(backoff);
    using _following = this.#options.onChange(() => {
      this.#direct = undefined;
      this.#waker.wake();
    });
    ready();
    try {
      while (!signal.aborted) {
        const isWell = await this.#settle(signal);
        if (isWell) waits.reset();
        await this.#waker.sleep(isWell ? lookMs : waits.next(), signal);
      }
    } finally {
      this.#close();
    }
  };

  /** Listens where it should; returns whether there is nothing more to do for now. */
  async #settle(signal: AbortSignal): Promise<boolean> {
    const wanted = this.#options.where();
    if ('missing' in wanted || wanted.relayTo === undefined) {
      this.#close();
      const isKnown = this.#options.ca() !== '';
      this.#say('missing' in wanted && isKnown ? `pods cannot reach the API: ${wanted.missing}` : undefined);
      return true;
    }
    const { address, relayTo } = wanted;
    const place = placeOf(address);
    if (this.#listening?.place === place && this.#listening.to === placeOf(relayTo)) return true;
    if (this.#direct === place) return true;
    this.#close();
    try {
      this.#listening = await this.#listen(address, relayTo);
      this.#options.log.info({ address: place }, 'passes connections of pods on to the API');
      this.#say(undefined);
      return true;
    } catch (error) {
      return await this.#explain(error, address, signal);
    }
  }

  /** Something listens there already: it may be the control plane itself, where it listens on all addresses. */
  async #explain(error: unknown, address: ApiAddress, signal: AbortSignal): Promise<boolean> {
    const place = placeOf(address);
    const isInUse = errorCode(error) === 'EADDRINUSE';
    const fault = isInUse ? await this.#faultOf(place, signal) : describeError(error);
    if (fault === undefined) {
      this.#direct = place;
      this.#say(undefined);
      return true;
    }
    const why = isInUse
      ? `what listens there is not this API, or not under that address (${fault}); choose another port with --secure-port`
      : fault;
    this.#say(`pods cannot reach the API: the agent cannot listen for them on ${place}: ${why}`);
    return false;
  }

  #say(problem: string | undefined): void {
    if (this.#problem?.message === problem) return;
    const { clock, log } = this.#options;
    this.#problem = problem === undefined ? undefined : { sinceMs: clock.now(), message: problem };
    if (problem !== undefined) log.warn(problem);
  }

  /** What is wrong with what listens there, as this API; `/version` is answered without credentials. */
  async #faultOf(place: string, signal: AbortSignal): Promise<string | undefined> {
    const timeouts = { connectTimeoutMs: 2000, timeoutMs: 3000 };
    try {
      await using client = new ApiClient({ server: `https://${place}`, ca: this.#options.ca(), ...timeouts });
      const { code } = await client.request({ method: 'GET', path: '/version', signal });
      return code === 200 ? undefined : `it answers ${code}`;
    } catch (error) {
      return describeError(error);
    }
  }

  async #listen(address: ApiAddress, to: ApiAddress): Promise<Listening> {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const source = this.#admit(socket);
      if (source === undefined) return;
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        this.#leave(source);
      });
      pass(socket, connect({ host: to.host, port: to.port, allowHalfOpen: true, noDelay: true }));
    });
    server.maxConnections = maxConnections;
    server.listen({ host: address.host, port: address.port });
    await once(server, 'listening');
    server.on('error', (error) => this.#options.log.warn(`connections of pods: ${describeError(error)}`));
    const close = () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    };
    return { place: placeOf(address), to: placeOf(to), close };
  }

  /** Returns where it comes from; destroys a connection of others than pods, and one too many. */
  #admit(socket: Socket): string | undefined {
    const { isOfNode, log } = this.#options;
    const source = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    const count = this.#sources.get(source) ?? 0;
    const isOwn = isOfNode(source);
    if (isOwn && count < maxPerSource) {
      this.#sources.set(source, count + 1);
      return source;
    }
    if (!this.#refused) {
      const why = isOwn
        ? `it has ${count} already`
        : 'it is no pod of this node: --bind-address lets others in';
      log.warn({ source }, `a connection to the API was refused, and others may be: ${why}`);
      this.#refused = true;
    }
    socket.destroy();
    return undefined;
  }

  #leave(source: string): void {
    const count = this.#sources.get(source) ?? 0;
    if (count > 1) this.#sources.set(source, count - 1);
    else this.#sources.delete(source);
  }

  #close(): void {
    this.#listening?.close();
    this.#listening = undefined;
  }
}

interface Listening {
  readonly place: string;
  readonly to: string;
  close(): void;
}

function placeOf({ host, port }: ApiAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** How soon a peer that went without a word is noticed, at the earliest: watches may be silent for long. */
const keepAliveMs = 60_000;

/**
 * Passes bytes both ways until both sides have ended, each no faster than the other takes them. When one fails, both are
 * destroyed.
 */
function pass(near: Socket, far: Socket): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.setKeepAlive(true, keepAliveMs);
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroySoon());
    from.pipe(to);
  }
}
