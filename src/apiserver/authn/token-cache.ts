import { hash } from 'node:crypto';

export interface TokenCacheLimits {
  most: number;
  /** Of all tokens together. */
  mostBytes: number;
}

interface Entry<T> {
  found: T;
  bytes: number;
}

/**
 * What tokens were found to say: to check a signature costs more than all the rest of a request. Tokens are known by
 * their digest, so that none lies about in memory. When it is full, those that were not used for longest go.
 */
export class TokenCache<T extends object> {
  readonly #limits: TokenCacheLimits;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #pending = new Map<string, Promise<T | undefined>>();
  /** Of the tokens, which tells how much their claims take. */
  #bytes = 0;

  constructor(limits: TokenCacheLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * What is known of a token, or what `verify` finds, which is kept unless it is undefined. Of many that ask at once
   * one verifies for all.
   */
  async find(token: string, verify: () => Promise<T | undefined>): Promise<T | undefined> {
    const digest = digestOf(token);
    const found = this.#entries.get(digest)?.found ?? (await this.#verified(digest, verify));
    if (found !== undefined) this.#keep(digest, { found, bytes: token.length });
    return found;
  }

  forget(token: string): void {
    this.#remove(digestOf(token));
  }

  #keep(digest: string, entry: Entry<T>): void {
    this.#remove(digest); // and in again, as the one used last
    this.#entries.set(digest, entry);
    this.#bytes += entry.bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.most && this.#bytes <= this.#limits.mostBytes) return;
      this.#remove(oldest);
    }
  }

  #remove(digest: string): void {
    this.#bytes -= this.#entries.get(digest)?.bytes ?? 0;
    this.#entries.delete(digest);
  }

  async #verified(digest: string, verify: () => Promise<T | undefined>): Promise<T | undefined> {
    const running = this.#pending.get(digest) ?? verify();
    this.#pending.set(digest, running);
    try {
      return await running;
    } finally {
      this.#pending.delete(digest);
    }
  }
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
