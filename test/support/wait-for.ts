import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Default 30 s: a machine under other load is slow, and a wait ends as soon as its condition holds. */
  timeoutMs?: number;
  /** Time between two looks, default 20 ms. */
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
  { timeoutMs = 30_000, intervalMs = 20 }: WaitOptions = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  let thrown: unknown;
  do {
    try {
      const answer = await condition();
      if (answer !== false && answer !== undefined && answer !== null) return answer;
      thrown = undefined;
    } catch (error) {
      thrown = error;
    }
    await sleep(intervalMs);
  } while (performance.now() < end);
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: thrown });
}
