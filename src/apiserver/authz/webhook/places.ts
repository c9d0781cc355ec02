import { WebhookError } from './answer.ts';

export interface PlacesOptions {
  /** How many questions may be under way at once. */
  most: number;
  /** How many of them may be about one user; more stand in line. */
  maxOfOne: number;
  /** How many may stand in line for the places of one user. */
  maxQueued: number;
}

interface OfUser {
  taken: number;
  line: (() => void)[];
}

const maxNamedLength = 128;

/**
 * Where questions wait for their answers: no one user takes the room of all others. Who asks about a user is not always
 * that user (reviews): what is too much about one stands in line for a while, instead of failing the user's own requests.
 */
export class Places {
  readonly #options: PlacesOptions;
  readonly #ofUsers = new Map<string, OfUser>();
  #taken = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** A place until it is disposed of. Rejects with a WebhookError when there is no room, and when `signal` aborts. */
  async take(user: string, signal: AbortSignal): Promise<Disposable> {
    const { maxOfOne, maxQueued } = this.#options;
    const of = this.#ofUsers.get(user) ?? { taken: 0, line: [] };
    this.#ofUsers.set(user, of);
    if (of.taken >= maxOfOne) {
      if (of.line.length >= maxQueued) throw tooMany(user);
      await this.#turn(user, of, signal);
    } else {
      if (this.#taken >= this.#options.most) {
        this.#forget(user, of);
        throw new WebhookError('too many questions wait for it already');
      }
      this.#taken += 1;
      of.taken += 1;
    }
    return { [Symbol.dispose]: () => this.#leave(user, of) };
  }

  /** Resolves when somebody has left their place to whoever waits longest. */
  #turn(user: string, of: OfUser, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      of.line = of.line.filter((each) => each !== enter);
      reject(tooMany(user));
    };
    const enter = () => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    of.line.push(enter);
    return promise;
  }

  #leave(user: string, of: OfUser): void {
    const next = of.line.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#taken -= 1;
    of.taken -= 1;
    this.#forget(user, of);
  }

  #forget(user: string, of: OfUser): void {
    if (of.taken === 0) this.#ofUsers.delete(user);
  }
}

function tooMany(user: string): WebhookError {
  const name = JSON.stringify(user.slice(0, maxNamedLength));
  return new WebhookError(`too many questions about user ${name} wait for it already`);
}
