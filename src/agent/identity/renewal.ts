import type { Clock, Latest, Logger, Service } from '../../base/index.ts';
import { createBackoff, describeError, untilAborted } from '../../base/index.ts';
import { validity } from '../../base/x509/index.ts';

export interface RenewalOptions {
  name: string;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
  /** Obtains or renews the certificates and returns those in use (PEM); it is called again after it has thrown. */
  refresh(signal: AbortSignal): Promise<readonly string[]>;
  /** Whether the service is ready only after the first success; else at once, because a peer may have to answer first. */
  readyAfterFirst: boolean;
  /** The wait between a failure and the next attempt. */
  retry: { initialMs: number; maxMs: number };
  /** Called first, before the service is ready; must not wait for a peer. */
  prepare?: () => Promise<void>;
  /** Called with why there is no certificate for now, and with undefined when there is one. */
  onProblem?(problem: string | undefined): void;
  /** The certificates are checked at once whenever this changes. */
  changes?: Pick<Latest<unknown>, 'onChange'>;
}

/** A certificate with less than this share of its life left is replaced. */
export const minLeft = 1 / 3;
const refreshMs = 3600_000;
/** How soon it is noticed that one has become due, and how often one is renewed that stays due. */
const lookMs = 5000;
const dueMs = 60_000;
const jitter = 0.2;

/**
 * Keeps certificates valid: refreshes them at once and then every hour, or within seconds of one becoming due earlier
 * because it is short-lived or the wall clock was set. A failure is logged and tried again; certificates in use stay.
 */
export function renewalService(options: RenewalOptions): Service {
  const { clock, log } = options;
  return {
    name: options.name,
    dependsOn: options.dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      if (options.prepare) await options.prepare();
      if (!options.readyAfterFirst) ready();
      const backoff = createBackoff({ ...options.retry, jitter });
      let changed = new AbortController();
      using _changes = options.changes?.onChange(() => changed.abort());

      async function refresh(): Promise<Pause> {
        try {
          const certificates = await options.refresh(signal);
          backoff.reset();
          options.onProblem?.(undefined);
          ready();
          return { ms: refreshMs, certificates };
        } catch (error) {
          const ms = backoff.next();
          const problem = `no certificate for now: ${describeError(error)}`;
          options.onProblem?.(problem);
          if (!signal.aborted) log.warn({ retryMs: Math.round(ms) }, problem);
          return { ms, certificates: [] };
        }
      }

      while (!signal.aborted) {
        changed = new AbortController(); // before the refresh, so that no change meanwhile is missed
        const pause = await Promise.race([refresh(), untilAborted(signal)]);
        if (pause) await sleepUntilDue(pause, clock, AbortSignal.any([signal, changed.signal]));
      }
    },
  };
}

interface Pause {
  ms: number;
  certificates: readonly string[];
}

async function sleepUntilDue({ ms, certificates }: Pause, clock: Clock, awake: AbortSignal): Promise<void> {
  const endMs = clock.monotonicMs() + ms;
  const spans = certificates.map(validity);
  const isDue = () => spans.some((span) => isOutOfDate(span, clock.now()));
  if (isDue()) await clock.sleep(Math.min(dueMs, ms), awake);
  else
    do await clock.sleep(Math.min(lookMs, endMs - clock.monotonicMs()), awake);
    while (!awake.aborted && clock.monotonicMs() < endMs && !isDue());
}

function isOutOfDate({ notBeforeMs, notAfterMs }: ReturnType<typeof validity>, now: number): boolean {
  return now < notBeforeMs || notAfterMs - now < (notAfterMs - notBeforeMs) * minLeft;
}
