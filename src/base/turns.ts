/** Lets in so many at a time; the others wait in the order of their coming. */
export interface Turns {
  /**
   * Resolves when it is the caller's turn; disposing of the result ends it. Rejects with the signal's reason
   * when that aborts first.
   */
  take(cancel: AbortSignal): Promise<Disposable>;
  /** How many are in or wait. */
  readonly size: number;
}

/** `limit` is asked whenever somebody comes or goes, so it may change meanwhile. */
export function createTurns(limit: () => number): Turns {
  const waiting = new Set<() => void>();
  let inside = 0;

  function admit(): void {
    for (const enter of waiting) {
      if (inside >= limit()) return;
      inside += 1;
      enter();
    }
  }

  function turn(): Disposable {
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
    get size() {
      return inside + waiting.size;
    },
    take(cancel) {
      if (cancel.aborted) return Promise.reject(reasonOf(cancel));
      const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
      const enter = (): void => {
        waiting.delete(enter);
        cancel.removeEventListener('abort', abandon);
        resolve(turn());
      };
      const abandon = (): void => {
        waiting.delete(enter);
        reject(reasonOf(cancel));
      };
      cancel.addEventListener('abort', abandon, { once: true });
      waiting.add(enter);
      admit();
      return promise;
    },
  };
}

/** One at a time for each key. */
export interface KeyedTurns {
  /** Whether somebody has that turn. */
  isTaken(key: string): boolean;
  take(key: string, cancel: AbortSignal): Promise<Disposable>;
}

export function createKeyedTurns(): KeyedTurns {
  const byKey = new Map<string, Turns>();
  return {
    isTaken: (key) => byKey.has(key),
    async take(key, cancel) {
      const turns = byKey.get(key) ?? createTurns(() => 1);
      byKey.set(key, turns);
      const forget = (): void => {
        if (turns.size === 0 && byKey.get(key) === turns) byKey.delete(key);
      };
      try {
        const turn = await turns.take(cancel);
        return {
          [Symbol.dispose]() {
            turn[Symbol.dispose]();
            forget();
          },
        };
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}

function reasonOf(cancel: AbortSignal): Error {
  return cancel.reason instanceof Error ? cancel.reason : new Error(String(cancel.reason));
}
