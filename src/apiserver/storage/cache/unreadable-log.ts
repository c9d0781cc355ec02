import type { Logger } from '../../../base/index.ts';
import type { StoreChange, Unreadable } from '../types.ts';
import { isReadable } from '../types.ts';

/** Objects that are logged one by one; there may be any number. */
const maxLogged = 100;

/** Logs each object that cannot be read once, until it can be read again or is gone. */
export class UnreadableLog {
  readonly #log: Logger;
  readonly #logged = new Set<string>();
  #isFull = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  changed({ key, next }: StoreChange): void {
    if (next !== null && !isReadable(next)) this.found(next);
    else if (this.#logged.delete(key)) this.#log.info({ key }, describeEnd(next !== null));
  }

  found({ key, why }: Unreadable): void {
    if (this.#logged.has(key)) return;
    if (this.#logged.size < maxLogged) {
      this.#logged.add(key);
      const rest =
        'it is left as it is, and nothing is concluded from it; have the program that wrote it store it again';
      this.#log.error({ key, why }, `an object in the store cannot be read: ${rest}`);
    } else if (!this.#isFull) {
      this.#isFull = true;
      const where = 'the metric nodeward_storage_unreadable_objects counts them';
      this.#log.error(`more than ${maxLogged} objects in the store cannot be read: ${where}`);
    }
  }

  /** Everything was read again. */
  replace(all: readonly Unreadable[]): void {
    const present = new Set(all.map(({ key }) => key));
    for (const key of this.#logged) if (!present.has(key)) this.#logged.delete(key);
    for (const one of all) this.found(one);
  }
}

function describeEnd(isReadableNow: boolean): string {
  return isReadableNow
    ? 'an object in the store can be read again'
    : 'an object that could not be read is gone';
}
