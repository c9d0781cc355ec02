import { WebhookError } from './answer.ts';

export interface PlacesOptions {
  /** How many questions may wait at once. */
  most: number;
  /** How many of them may be about one user. */
  mostOfOne: number;
}

const longestNamed = 128;

/** Where questions wait for their answers: no one user takes the room of all others. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #ofUsers = new Map<string, number>();
  #taken = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** A place until it is disposed of; throws WebhookError at once when there is none. */
  take(user: string): Disposable {
    const { most, mostOfOne } = this.#options;
    if (this.#taken >= most) throw new WebhookError('too many questions wait for it already');
    const ofUser = this.#ofUsers.get(user) ?? 0;
    if (ofUser >= mostOfOne) {
      const name = JSON.stringify(user.slice(0, longestNamed));
      throw new WebhookError(`too many questions about user ${name} wait for it already`);
    }
    this.#taken += 1;
    this.#ofUsers.set(user, ofUser + 1);
    return { [Symbol.dispose]: () => this.#leave(user) };
  }

  #leave(user: string): void {
    const left = (this.#ofUsers.get(user) ?? 0) - 1;
    this.#taken -= 1;
    if (left > 0) this.#ofUsers.set(user, left);
    else this.#ofUsers.delete(user);
  }
}
