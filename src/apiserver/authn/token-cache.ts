import { hash } from 'node:crypto';
import { BoundedMap, SingleFlight } from '../../base/index.ts';

export interface TokenCacheLimits {
  maxEntries: number;
  /** Of all tokens together. */
  maxBytes: number;
}

interface Entry<T> {
  found: T;
  /** Of the token, which tells how much its claims take. */
  bytes: number;
}

/**
 * Caches the claims of verified tokens: to verify a signature costs more than all the rest of a request. The keys are
 * digests, so that no token stays in memory. When it is full, the least recently used are dropped.
 */
export class TokenCache<T extends object> {
  readonly #maxBytes: number;
  readonly #entries: BoundedMap<string, Entry<T>>;
  readonly #verifying = new SingleFlight<T | undefined>();

  constructor({ maxEntries, maxBytes }: TokenCacheLimits) {
    this.#maxBytes = maxBytes;
    this.#entries = new BoundedMap({ maxEntries, maxWeight: maxBytes, weigh: ({ bytes }) => bytes });
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the cached claims of a token, or the result of `verify`, which is cached unless it is undefined. Concurrent
   * calls for one token share one verification.
   */
  async find(token: string, verify: () => Promise<T | undefined>): Promise<T | undefined> {
    const digest = digestOf(token);
    const known = this.#entries.use(digest);
    if (known !== undefined) return known.found;
    const found = await this.#verifying.run(digest, verify);
    if (found !== undefined) this.#keep(digest, { found, bytes: token.length });
    return found;
  }

  forget(token: string): void {
    this.#entries.delete(digestOf(token));
  }

  #keep(digest: string, entry: Entry<T>): void {
    this.#entries.set(digest, entry);
    if (entry.bytes > this.#maxBytes) this.#entries.delete(digest);
  }
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
