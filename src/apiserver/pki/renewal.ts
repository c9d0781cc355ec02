import type { Clock, Service } from '../../base/index.ts';
import { validity } from '../../base/x509/index.ts';
import type { Keys } from './keys.ts';
import type { Pki } from './pki.ts';

export interface RenewalOptions {
  keys: Pick<Keys, 'pki'>;
  clock: Clock;
  /** What is in use. */
  pki: Pki;
  /** Default: nothing. */
  dependsOn?: readonly string[];
  /** Called with what is to be used from now on, after a renewal. */
  onRenewed(pki: Pki): Promise<void>;
}

/** The files may have been changed by others, and a renewal may have failed. */
const everyMs = 5 * 60_000;
/** How soon it is noticed that a certificate has become due, as when the wall clock was set. */
const lookMs = 5000;
const leaves = ['serving', 'admin', 'agentClient'] as const;

/**
 * The service `certificates`: checks every five minutes, and within seconds of a certificate becoming due, and renews what
 * expires soon or no longer fits.
 */
export function pkiRenewal(options: RenewalOptions): Service {
  const { keys, clock, dependsOn = [], onRenewed } = options;
  let inUse = options.pki;
  let spans = spansOf(inUse);
  /** Whether one was due at the last check, which has then renewed what it can. */
  let wasDue = false;
  const isDue = () => spans.some((span) => isOutOfDate(span, clock.now()));

  async function sleepUntilCheck(signal: AbortSignal): Promise<void> {
    const endMs = clock.monotonicMs() + everyMs;
    do {
      await clock.sleep(Math.min(lookMs, endMs - clock.monotonicMs()), signal);
      if (wasDue && !isDue()) wasDue = false; // the clock was set back
    } while (!signal.aborted && clock.monotonicMs() < endMs && (wasDue || !isDue()));
  }

  async function check(): Promise<void> {
    wasDue = isDue();
    const now = await keys.pki();
    if (leaves.every((leaf) => now[leaf].cert === inUse[leaf].cert)) return;
    await onRenewed(now);
    inUse = now;
    spans = spansOf(now);
    wasDue = isDue();
  }

  return {
    name: 'certificates',
    dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      for (;;) {
        await sleepUntilCheck(signal);
        if (signal.aborted) return;
        await check();
      }
    },
  };
}

type Span = ReturnType<typeof validity>;

const spansOf = (pki: Pki): readonly Span[] => leaves.map((leaf) => validity(pki[leaf].cert));

/** A leaf is renewed when less than a third of its life is left. */
function isOutOfDate({ notBeforeMs, notAfterMs }: Span, now: number): boolean {
  return now < notBeforeMs || notAfterMs - now < (notAfterMs - notBeforeMs) / 3;
}
