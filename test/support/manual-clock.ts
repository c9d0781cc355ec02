import type { Clock } from '../../src/base/index.ts';

/** A clock whose time only the test moves. Both times start at round figures. */
export interface ManualClock extends Clock {
  /** Lets `ms` pass: wakes each sleeper at its time, in order, and lets the woken work before time goes on. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until `condition` holds; fails when it does not within `limitMs` of this clock. */
  advanceUntil(condition: () => boolean, limitMs: number): Promise<void>;
  /** Sets the wall clock alone, as an administrator would. */
  setWall(byMs: number): void;
  /** The machine sleeps: wall clock and uptime go on, monotonic time does not. */
  suspend(ms: number): void;
  /** The process is stopped: all time passes, yet nobody is woken before its end. */
  stall(ms: number): Promise<void>;
  /** Milliseconds since the machine started, with the time it slept. */
  uptimeMs(): number;
  /** How many sleep now. */
  readonly sleepers: number;
}

interface Sleeper {
  dueMs: number;
  wake(): void;
}

const spinLimit = 10_000;

/** 2025-01-01T00:00:00Z. */
const wallStartMs = 1_735_689_600_000;

export function createManualClock(): ManualClock {
  const sleeping = new Set<Sleeper>();
  let monotonicMs = 1000;
  let wallOffsetMs = wallStartMs - monotonicMs;
  let sleptMs = 0;
  let wakesHere = 0;

  const earliest = () => [...sleeping].sort((a, b) => a.dueMs - b.dueMs)[0];

  /** Wakes the next one who is due by `limitMs`; false when there is none. */
  async function wakeNext(limitMs: number): Promise<boolean> {
    const next = earliest();
    if (next === undefined || next.dueMs > limitMs) return false;
    wakesHere = next.dueMs > monotonicMs ? 0 : wakesHere + 1;
    if (wakesHere > spinLimit) throw new Error('someone sleeps again and again without letting time pass');
    monotonicMs = Math.max(monotonicMs, next.dueMs);
    next.wake();
    await settle();
    return true;
  }

  return {
    now: () => Math.floor(monotonicMs + wallOffsetMs),
    monotonicMs: () => monotonicMs,
    uptimeMs: () => monotonicMs + sleptMs,
    get sleepers() {
      return sleeping.size;
    },
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const sleeper: Sleeper = {
          dueMs: monotonicMs + Math.max(0, ms),
          wake() {
            sleeping.delete(sleeper);
            signal?.removeEventListener('abort', sleeper.wake);
            resolve();
          },
        };
        signal?.addEventListener('abort', sleeper.wake, { once: true });
        sleeping.add(sleeper);
      });
    },
    async advance(ms) {
      const endMs = monotonicMs + ms;
      await settle();
      while (await wakeNext(endMs));
      monotonicMs = endMs;
      await settle();
    },
    async advanceUntil(condition, limitMs) {
      const endMs = monotonicMs + limitMs;
      await settle();
      while (!condition()) {
        if (!(await wakeNext(endMs))) throw new Error(`not so within ${limitMs} ms of the test's clock`);
      }
    },
    setWall(byMs) {
      wallOffsetMs += byMs;
    },
    suspend(ms) {
      wallOffsetMs += ms;
      sleptMs += ms;
    },
    async stall(ms) {
      monotonicMs += ms;
      while (await wakeNext(monotonicMs));
    },
  };
}

/** Lets everything that can go on without time passing go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
