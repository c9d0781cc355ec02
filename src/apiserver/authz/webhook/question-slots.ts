import { WebhookError } from './answer.ts';

export interface QuestionLimits {
  /** How many questions may be open at once. */
  maxTaken: number;
  /** How many of them may be about one user; further ones are queued. */
  maxPerUser: number;
  /** How many may be queued for the slots of one user. */
  maxQueued: number;
}

interface UserSlots {
  taken: number;
  queue: (() => void)[];
}

const maxUserNameLength = 128;

/**
 * Limits the questions to the other server, and per user, so that no user takes the slots of all others. A question about a
 * user does not always come from that user (reviews): beyond the limit of one user questions are queued for a while, so
 * that the user's own requests do not fail at once.
 */
export class QuestionSlots {
  readonly #limits: QuestionLimits;
  readonly #byUser = new Map<string, UserSlots>();
  #taken = 0;

  constructor(limits: QuestionLimits) {
    this.#limits = limits;
  }

  /** Takes a slot, released by disposing. Rejects with a WebhookError when there is none, and when `signal` aborts. */
  async take(user: string, signal: AbortSignal): Promise<Disposable> {
    const { maxPerUser, maxQueued } = this.#limits;
    const slots = this.#byUser.get(user) ?? { taken: 0, queue: [] };
    this.#byUser.set(user, slots);
    if (slots.taken >= maxPerUser) {
      if (slots.queue.length >= maxQueued) throw tooManyQuestions(user);
      await this.#waitInQueue(user, slots, signal);
    } else {
      if (this.#taken >= this.#limits.maxTaken) {
        this.#forget(user, slots);
        throw new WebhookError('too many questions wait for it already');
      }
      this.#taken += 1;
      slots.taken += 1;
    }
    return { [Symbol.dispose]: () => this.#release(user, slots) };
  }

  /** Waits in the queue of the user; resolves when a released slot is passed on to this question. */
  #waitInQueue(user: string, slots: UserSlots, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      slots.queue = slots.queue.filter((each) => each !== enter);
      reject(tooManyQuestions(user));
    };
    const enter = () => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    slots.queue.push(enter);
    return promise;
  }

  #release(user: string, slots: UserSlots): void {
    const next = slots.queue.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#taken -= 1;
    slots.taken -= 1;
    this.#forget(user, slots);
  }

  #forget(user: string, slots: UserSlots): void {
    if (slots.taken === 0) this.#byUser.delete(user);
  }
}

function tooManyQuestions(user: string): WebhookError {
  const name = JSON.stringify(user.slice(0, maxUserNameLength));
  return new WebhookError(`too many questions about user ${name} wait for it already`);
}
