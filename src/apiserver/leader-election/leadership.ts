import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Candidate } from './candidate.ts';

export interface LeadershipOptions {
  readonly candidate: Candidate;
  readonly identity: string;
  /** Between two renewals, and between two tries to become the leader. */
  readonly retryMs: number;
  /** How long after its last renewal this process still acts as the leader; shorter than the others wait. */
  readonly trustMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Waits until this process is the leader or `signal` aborts. Resolves with whether it is. */
export async function untilElected(options: LeadershipOptions, signal: AbortSignal): Promise<boolean> {
  const { candidate, retryMs, log } = options;
  let isLogged = false;
  while (!signal.aborted) {
    if (candidate.waitMs() === 0) {
      try {
        if (await within(options, retryMs, candidate.claim())) return !signal.aborted;
        isLogged = false;
      } catch (error) {
        if (!isLogged) log.warn(`cannot ask to lead, trying again: ${describeError(error)}`);
        isLogged = true;
      }
    }
    await untilChanged(options, Math.min(candidate.waitMs() || retryMs, retryMs), signal);
  }
  return false;
}

/**
 * Renews the Lease until `ended` aborts. Resolves earlier, with the reason, when this process is no longer the leader:
 * another process holds the Lease, or it was not renewed for so long that another process may take it.
 */
export async function keepLeading(
  options: LeadershipOptions,
  ended: AbortSignal,
): Promise<string | undefined> {
  const { candidate, identity, retryMs, trustMs, clock } = options;
  let renewedMs = clock.monotonicMs();
  let failure = 'no answer';
  while (!ended.aborted) {
    await untilChanged(options, retryMs, ended);
    if (ended.aborted) return undefined;
    const holder = candidate.holder();
    if (holder !== undefined && holder !== identity) return `${holder} leads now`;
    const leftMs = renewedMs + trustMs - clock.monotonicMs();
    if (leftMs <= 0) return `the lease could not be renewed for ${trustMs} ms: ${failure}`;
    const askedMs = clock.monotonicMs();
    if (askedMs - renewedMs < retryMs / 2) continue; // woken by its own renewal
    try {
      if (await within(options, Math.min(leftMs, retryMs), candidate.claim())) renewedMs = askedMs;
    } catch (error) {
      failure = describeError(error);
    }
  }
  return undefined;
}

/**
 * Resolves with false when `claim` takes longer than `ms`: a store that hangs must not block the caller. A claim that
 * succeeds later does no harm.
 */
async function within({ clock }: LeadershipOptions, ms: number, claim: Promise<boolean>): Promise<boolean> {
  const settled = new AbortController();
  const late = clock.sleep(ms, settled.signal).then(() => false);
  try {
    return await Promise.race([claim, late]);
  } finally {
    settled.abort();
    claim.catch(() => undefined);
  }
}

async function untilChanged(
  { candidate, clock }: LeadershipOptions,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const changed = new AbortController();
  using _listener = candidate.onChange(() => changed.abort());
  await clock.sleep(ms, AbortSignal.any([signal, changed.signal]));
}

/** Releases the Lease. Waits at most `retryMs`: the Lease expires in any case. */
export async function stepDown(options: LeadershipOptions): Promise<void> {
  const { candidate, retryMs, clock, log } = options;
  const settled = new AbortController();
  try {
    await Promise.race([candidate.release(), clock.sleep(retryMs, settled.signal)]);
  } catch (error) {
    log.debug(`the lease could not be given up: ${describeError(error)}`);
  } finally {
    settled.abort();
  }
}
