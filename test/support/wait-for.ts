import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Default 30 s: a machine under other load is slow, and a wait ends as soon as its condition holds. */
  timeoutMs?: number;
  /** Time between two looks; default as long as the last one took, from 20 to 500 ms: a wait must not hold up what it waits for. */
  intervalMs?: number;
}

/** What a condition that does not hold yet may answer. */
type NotYet = false | undefined | null;

/**
 * Looks again and again until `condition` answers something other than false, undefined or null, and
 * returns that. What it throws counts as "not yet". After `timeoutMs` it throws an error that names
 * `what` was waited for and the last thing thrown.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | NotYet | Promise<T | NotYet>,
  { timeoutMs = 30_000, intervalMs }: WaitOptions = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  let thrown: unknown;
  do {
    const lookedMs = performance.now();
    try {
      const answer = await condition();
      if (answer !== false && answer !== undefined && answer !== null) return answer;
      thrown = undefined;
    } catch (error) {
      thrown = error;
    }
    await sleep(intervalMs ?? Math.min(Math.max(20, performance.now() - lookedMs), 500));
  } while (performance.now() < end);
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: thrown });
}
