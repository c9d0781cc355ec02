import type { Waker } from '../../base/index.ts';

/** What is said of something that goes on, and after how many milliseconds there is something else to say. */
export interface Progress {
  readonly message: string;
  readonly nextMs: number;
}

/**
 * The times that are named, so that a message, and with it the status of a pod, changes seldom; after the last one each
 * multiple of it.
 */
const stepsSeconds = [10, 30, 60, 120, 300, 600] as const;
const lastSeconds = 600;

export function describeLooking(image: string, ms: number): Progress {
  const { words, nextMs } = since(ms);
  const so = words === '' ? '' : `: the image service has not answered for ${words}`;
  return { message: `Looking for image "${image}"${so}`, nextMs };
}

export function describeQueued(image: string): Progress {
  return {
    message: `Waiting to pull image "${image}": other images are being pulled`,
    nextMs: lastSeconds * 1000,
  };
}

export function describePulling(image: string, ms: number): Progress {
  const { words, nextMs } = since(ms);
  return { message: `Pulling image "${image}"${words === '' ? '' : ` for ${words}`}`, nextMs };
}

function since(ms: number): { words: string; nextMs: number } {
  const seconds = Math.floor(ms / 1000);
  const passed = Math.max(
    Math.floor(seconds / lastSeconds) * lastSeconds,
    ...stepsSeconds.filter((step) => step <= seconds),
    0,
  );
  const next = stepsSeconds.find((step) => step > seconds) ?? passed + lastSeconds;
  const words = passed < 60 ? `${passed} s` : `${passed / 60} min`;
  return { words: passed === 0 ? '' : `more than ${words}`, nextMs: Math.max(next * 1000 - ms, 1) };
}

export interface Reporting {
  /** Ends the reports. */
  readonly signal: AbortSignal;
  /** Woken when there is something else to say early. */
  readonly waker: Waker;
  describe(): Progress;
  report(message: string): void;
}

/** Reports how it goes, from the first `nextMs` on, until `work` has ended. */
export async function whileReporting<T>(work: Promise<T>, reporting: Reporting): Promise<T> {
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, reporting.signal]);
  void keepReporting(reporting, signal);
  try {
    return await work;
  } finally {
    ended.abort();
  }
}

async function keepReporting({ waker, describe, report }: Reporting, signal: AbortSignal): Promise<void> {
  let { nextMs } = describe();
  for (;;) {
    await waker.sleep(nextMs, signal);
    if (signal.aborted) return;
    const now = describe(); // once: a timer may fire a little early, and what is new is then said at the next one
    report(now.message);
    nextMs = now.nextMs;
  }
}
