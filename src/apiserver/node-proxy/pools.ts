import type { SecureContext, TLSSocket } from 'node:tls';
import { createSecureContext } from 'node:tls';
import type { Pool } from 'undici';
import { Semaphore } from '../../base/index.ts';
import type { Pair } from '../../base/x509/index.ts';
import type { DialLimits } from './connector.ts';
import { createNodeConnector, dialNode } from './connector.ts';
import type { Target } from './target.ts';

export interface PoolsOptions {
  /** PEM of the authority that certifies nodes. */
  ca: string;
  /** Returns the current certificate of the control plane. */
  identity(): Pair;
  /** To one node at once. */
  connections: number;
  dial?: DialLimits | undefined;
}

/** The connections to one node, in use until disposed of. */
export interface NodePool extends Disposable {
  readonly pool: Pool;
}

interface Entry {
  /** What it was made for. */
  key: string;
  pool: Promise<Pool>;
  users: number;
  /** Another one has taken its place. */
  isOld: boolean;
  idle: NodeJS.Timeout | undefined;
}

/** Shorter than the agents' two minutes, so that this side closes idle connections. */
const keepAliveMs = 60_000;
const idleMs = 90_000;
/** With one node at once, for streams: of 200 that are not done an agent cuts some, and there may be three servers. */
const maxHandshakes = 60;
/** A placeholder that is never resolved: the connector knows the node's addresses. */
const origin = 'https://agent.invalid';

/**
 * Connections by node, opened when they are needed and closed after some idle time. When a node has moved, or the control
 * plane has a new certificate, new ones are opened; requests on the old ones can finish.
 */
export class NodePools implements AsyncDisposable {
  readonly #options: PoolsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #open = new Set<Pool>();
  /** The handshakes for streams, by node. */
  readonly #dialing = new Map<string, Semaphore>();
  #context: { cert: string; secure: SecureContext } | undefined;

  constructor(options: PoolsOptions) {
    this.#options = options;
  }

  async use(target: Target): Promise<NodePool> {
    const entry = this.#entryOf(target);
    entry.users += 1;
    clearTimeout(entry.idle);
    try {
      const pool = await entry.pool;
      return { pool, [Symbol.dispose]: () => this.#release(target.node, entry) };
    } catch (error) {
      this.#release(target.node, entry);
      throw error;
    }
  }

  /** A connection of its own, for a stream. */
  async dial(target: Target): Promise<TLSSocket> {
    const { node } = target;
    const dialing = this.#dialing.get(node) ?? new Semaphore(() => maxHandshakes);
    this.#dialing.set(node, dialing);
    try {
      return await dialing.run(() => dialNode(target, this.#secureContext(), this.#options.dial));
    } finally {
      if (dialing.size === 0) this.#dialing.delete(node);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { idle } of this.#entries.values()) clearTimeout(idle);
    this.#entries.clear();
    await Promise.allSettled([...this.#open].map((pool) => pool.destroy()));
  }

  #entryOf(target: Target): Entry {
    const secure = this.#secureContext();
    const key = JSON.stringify([target, this.#context?.cert]);
    const known = this.#entries.get(target.node);
    if (known?.key === key) return known;
    if (known !== undefined) this.#retire(target.node, known);
    const entry: Entry = {
      key,
      pool: this.#openPool(target, secure),
      users: 0,
      isOld: false,
      idle: undefined,
    };
    this.#entries.set(target.node, entry);
    return entry;
  }

  /** Loads the HTTP library, which a control plane without requests to nodes does not need. */
  async #openPool(target: Target, secure: SecureContext): Promise<Pool> {
    const { Pool } = await import('undici');
    const { connections, dial } = this.#options;
    const connect = createNodeConnector(target, secure, dial);
    const pool = new Pool(origin, {
      connect,
      connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
    });
    this.#open.add(pool);
    return pool;
  }

  #secureContext(): SecureContext {
    const { cert, key } = this.#options.identity();
    if (this.#context?.cert !== cert) {
      const secure = createSecureContext({ ca: this.#options.ca, cert, key, minVersion: 'TLSv1.2' });
      this.#context = { cert, secure };
    }
    return this.#context.secure;
  }

  #release(node: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    if (entry.isOld) {
      this.#close(entry);
      return;
    }
    entry.idle = setTimeout(() => this.#retire(node, entry), idleMs);
    entry.idle.unref();
  }

  /** It is used no more, and closed when what is under way has ended. */
  #retire(node: string, entry: Entry): void {
    clearTimeout(entry.idle);
    entry.isOld = true;
    if (this.#entries.get(node) === entry) this.#entries.delete(node);
    if (entry.users === 0) this.#close(entry);
  }

  #close({ pool: opening }: Entry): void {
    opening
      .then(async (pool) => {
        await pool.close();
        this.#open.delete(pool);
      })
      .catch(() => undefined); // it was never open
  }
}
