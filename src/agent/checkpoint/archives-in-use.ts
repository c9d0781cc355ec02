/** Counts the readers of each checkpoint: retention removes none that has any. */
export class ArchivesInUse {
  readonly #readers = new Map<string, number>();

  /** Keeps retention from removing the checkpoint until disposal. */
  hold(id: string): Disposable {
    let released = false;
    this.#add(id, 1);
    return {
      [Symbol.dispose]: () => {
        if (!released) this.#add(id, -1);
        released = true;
      },
    };
  }

  isHeld(id: string): boolean {
    return this.#readers.has(id);
  }

  #add(id: string, change: 1 | -1): void {
    const count = (this.#readers.get(id) ?? 0) + change;
    if (count > 0) this.#readers.set(id, count);
    else this.#readers.delete(id);
  }
}
