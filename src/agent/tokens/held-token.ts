import type { Backoff, Clock } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';
import type { GivenToken } from './ask-token.ts';
import type { PodToken } from './types.ts';

export interface HeldTokenOptions {
  ask(): Promise<GivenToken>;
  /** The token is to be renewed and was not: called for the first of several failures in a row. */
  onKept(error: unknown, expiresMs: number): void;
  onRenewedAgain(): void;
  readonly clock: Clock;
  random(): number;
}

/** A token is renewed when this share of its life is over, and at this age at the latest, up to 10 s before that. */
const renewShare = 0.8;
const maxAgeMs = 24 * 3600_000;
const maxJitterMs = 10_000;
/** Between attempts to renew a token that is still good. */
const renewBackoff = { initialMs: 1000, maxMs: 60_000, jitter: 0.2 };

/** The token of now, with when it is to be renewed and when it has ended. */
interface Current {
  readonly token: string;
  readonly expiresMs: number;
  readonly renew: Moment;
  readonly end: Moment;
}

/** Reached when either clock says so: the wall clock may be set back, and the other one stands still while a machine sleeps. */
interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** One token, which all who ask the same question of one pod share. */
export class HeldToken {
  readonly #options: HeldTokenOptions;
  readonly #backoff: Backoff;
  #current: Current | undefined;
  /** Set while the renewal fails: when it is tried again. */
  #retry: Moment | undefined;
  #asking: Promise<Current> | undefined;

  constructor(options: HeldTokenOptions) {
    this.#options = options;
    this.#backoff = createBackoff({ ...renewBackoff, random: options.random });
  }

  async get(): Promise<PodToken> {
    const current = this.#current;
    if (current === undefined) return this.#tell(await this.#ask());
    if (!this.#isReached(this.#retry ?? current.renew) && !this.#isReached(current.end))
      return this.#tell(current);
    try {
      return this.#tell(await this.#ask());
    } catch (error) {
      if (!this.#isReached(current.end)) return this.#tell(current);
      throw new Error(`the token has expired, and a new one was not given: ${describeError(error)}`, {
        cause: error,
      });
    }
  }

  /** All callers share the call under way. */
  #ask(): Promise<Current> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askOnce(): Promise<Current> {
    const asked = this.#in(0);
    try {
      const given = await this.#options.ask();
      this.#current = this.#settle(given, asked);
      if (this.#retry !== undefined) this.#options.onRenewedAgain();
      this.#retry = undefined;
      this.#backoff.reset();
      return this.#current;
    } catch (error) {
      this.#keep(error);
      throw error;
    }
  }

  /** Without a token to go on with, the caller tries again in its own time. */
  #keep(error: unknown): void {
    const current = this.#current;
    if (current === undefined) return;
    if (this.#retry === undefined) this.#options.onKept(error, current.expiresMs);
    this.#retry = this.#in(this.#backoff.next());
  }

  /** Its life is counted from before it was asked for, so that the clocks of this node and of the API may differ. */
  #settle({ token, lifeMs, expiresMs }: GivenToken, asked: Moment): Current {
    const { random } = this.#options;
    const jitterMs = Math.min(maxJitterMs, lifeMs / 20) * random();
    const renewMs = Math.min(lifeMs * renewShare, maxAgeMs) - jitterMs;
    return { token, expiresMs, renew: later(asked, renewMs), end: later(asked, lifeMs) };
  }

  #tell({ token, expiresMs, renew }: Current): PodToken {
    const { wallMs, monotonicMs } = this.#retry ?? renew;
    const now = this.#in(0);
    const waitMs = Math.max(0, Math.min(wallMs - now.wallMs, monotonicMs - now.monotonicMs));
    return { token, expiresMs, renewMs: now.wallMs + waitMs };
  }

  #in(ms: number): Moment {
    const { clock } = this.#options;
    return { wallMs: clock.now() + ms, monotonicMs: clock.monotonicMs() + ms };
  }

  #isReached({ wallMs, monotonicMs }: Moment): boolean {
    const { clock } = this.#options;
    return clock.now() >= wallMs || clock.monotonicMs() >= monotonicMs;
  }
}

function later({ wallMs, monotonicMs }: Moment, ms: number): Moment {
  return { wallMs: wallMs + ms, monotonicMs: monotonicMs + ms };
}
