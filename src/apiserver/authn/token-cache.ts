import { hash } from 'node:crypto';

/**
 * What tokens were found to say: to check a signature costs more than all the rest of a request. Tokens are known by
 * their digest, so that none lies about in memory. When it is full, the one that was not used for longest goes.
 */
export class TokenCache<T extends object> {
  readonly #limit: number;
  readonly #entries = new Map<string, T>();
  readonly #pending = new Map<string, Promise<T | undefined>>();

  constructor(limit: number) {
    this.#limit = limit;
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
    const found = this.#entries.get(digest) ?? (await this.#verified(digest, verify));
    if (found !== undefined) this.#keep(digest, found);
    return found;
  }

  forget(token: string): void {
    this.#entries.delete(digestOf(token));
  }

  #keep(digest: string, found: T): void {
    this.#entries.delete(digest); // and in again, as the one used last
    this.#entries.set(digest, found);
    if (this.#entries.size <= this.#limit) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
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
