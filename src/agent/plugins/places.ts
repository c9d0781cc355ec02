/** Lets in so many at a time, the others in the order of their coming. */
export interface Places {
  /** Resolves when there is a place, which disposing of the result gives back; with undefined when `cancel` aborts first. */
  take(cancel: AbortSignal): Promise<Disposable | undefined>;
}

export function createPlaces(limit: number): Places {
  const waiting = new Set<() => void>();
  let inside = 0;

  function admit(): void {
    for (const enter of waiting) {
      if (inside >= limit) return;
      enter();
    }
  }

  function place(): Disposable {
    let left = false;
    return {
      [Symbol.dispose]() {
        if (left) return;
        left = true;
        inside -= 1;
        admit();
      },
    };
  }

  return {
    take(cancel) {
      if (cancel.aborted) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<Disposable | undefined>();
      const leave = () => {
        waiting.delete(enter);
        cancel.removeEventListener('abort', giveUp);
      };
      const enter = () => {
        leave();
        inside += 1;
        resolve(place());
      };
      const giveUp = () => {
        leave();
        resolve(undefined);
      };
      cancel.addEventListener('abort', giveUp, { once: true });
      waiting.add(enter);
      admit();
      return promise;
    },
  };
}
