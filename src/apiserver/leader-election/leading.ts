import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Seat } from './seat.ts';

export interface LeadingOptions {
  readonly seat: Seat;
  readonly identity: string;
  /** Between two renewals, and between two tries to take the seat. */
  readonly retryMs: number;
  /** How long after the last renewal this process trusts that it leads; less than others wait. */
  readonly trustMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Waits until the seat is this process's own, or `signal` aborts. Resolves with whether it is. */
export async function untilElected(options: LeadingOptions, signal: AbortSignal): Promise<boolean> {
  const { seat, retryMs, log } = options;
  let complained = false;
  while (!signal.aborted) {
    if (seat.waitMs() === 0) {
      try {
        if (await within(options, retryMs, seat.claim())) return !signal.aborted;
        complained = false;
      } catch (error) {
        if (!complained) log.warn(`cannot ask to lead, trying again: ${describeError(error)}`);
        complained = true;
      }
    }
    await untilChanged(options, Math.min(seat.waitMs() || retryMs, retryMs), signal);
  }
  return false;
}

/**
 * Renews until `ended` aborts. Resolves then, or before with why this process leads no more: another has taken the seat,
 * or it could not be renewed for so long that another may.
 */
export async function keepLeading(options: LeadingOptions, ended: AbortSignal): Promise<string | undefined> {
  const { seat, identity, retryMs, trustMs, clock } = options;
  let renewedMs = clock.monotonicMs();
  let failure = 'no answer';
  while (!ended.aborted) {
    await untilChanged(options, retryMs, ended);
    if (ended.aborted) return undefined;
    const holder = seat.holder();
    if (holder !== undefined && holder !== identity) return `${holder} leads now`;
    const leftMs = renewedMs + trustMs - clock.monotonicMs();
    if (leftMs <= 0) return `the lease could not be renewed for ${trustMs} ms: ${failure}`;
    const askedMs = clock.monotonicMs();
    if (askedMs - renewedMs < retryMs / 2) continue; // woken by the own renewal
    try {
      if (await within(options, Math.min(leftMs, retryMs), seat.claim())) renewedMs = askedMs;
    } catch (error) {
      failure = describeError(error);
    }
  }
  return undefined;
}

/** What is asked of a store that hangs must not hold up the one who asks; a late success harms nobody. */
async function within({ clock }: LeadingOptions, ms: number, asked: Promise<boolean>): Promise<boolean> {
  const settled = new AbortController();
  const late = clock.sleep(ms, settled.signal).then(() => false);
  try {
    return await Promise.race([asked, late]);
  } finally {
    settled.abort();
    asked.catch(() => undefined);
  }
}

async function untilChanged({ seat, clock }: LeadingOptions, ms: number, signal: AbortSignal): Promise<void> {
  const changed = new AbortController();
  using _listener = seat.onChange(() => changed.abort());
  await clock.sleep(ms, AbortSignal.any([signal, changed.signal]));
}

/** Gives the seat up, bounded in time: whoever waits takes it in the end anyway. */
export async function stepDown(options: LeadingOptions): Promise<void> {
  const { seat, retryMs, clock, log } = options;
  const settled = new AbortController();
  try {
    await Promise.race([seat.release(), clock.sleep(retryMs, settled.signal)]);
  } catch (error) {
    log.debug(`the lease could not be given up: ${describeError(error)}`);
  } finally {
    settled.abort();
  }
}
