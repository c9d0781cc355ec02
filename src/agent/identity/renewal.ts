import type { Clock, Latest, Logger, Service } from '../../base/index.ts';
import { createBackoff, describeError, untilAborted } from '../../base/index.ts';
import { validity } from '../../base/x509/index.ts';

export interface RenewalOptions {
  name: string;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
  /** Gets or renews what is needed and answers the certificates (PEM) in use; to throw is to be called again. */
  refresh(signal: AbortSignal): Promise<readonly string[]>;
  /** Whether to be ready only after the first success; else at once, because a peer may have to answer first. */
  readyAfterFirst: boolean;
  /** Between one failure and the next try. */
  retry: { initialMs: number; maxMs: number };
  /** Done first, before it is ready; must not wait for a peer. */
  prepare?: () => Promise<void>;
  /** What it looks at again whenever it changes. */
  changes?: Pick<Latest<unknown>, 'onChange'>;
}

/** A certificate with less than a third of its life left is replaced. */
export const minLeft = 1 / 3;
const seldomMs = 3600_000;
const glanceMs = 60_000;
const jitter = 0.2;

/**
 * Keeps certificates fresh: looks at once and then every hour; within a minute when one is due earlier, be it
 * short-lived or the wall clock set. A failure is logged and tried again; what is in use stays meanwhile.
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

      async function look(): Promise<Rest> {
        try {
          const certificates = await options.refresh(signal);
          backoff.reset();
          ready();
          return { ms: seldomMs, certificates };
        } catch (error) {
          const ms = backoff.next();
          if (!signal.aborted)
            log.warn({ retryMs: Math.round(ms) }, `no certificate for now: ${describeError(error)}`);
          return { ms, certificates: [] };
        }
      }

      while (!signal.aborted) {
        changed = new AbortController(); // before looking: what changes meanwhile is not missed
        const rest = await Promise.race([look(), untilAborted(signal)]);
        if (rest) await sleepUntilDue(rest, clock, AbortSignal.any([signal, changed.signal]));
      }
    },
  };
}

interface Rest {
  ms: number;
  certificates: readonly string[];
}

async function sleepUntilDue({ ms, certificates }: Rest, clock: Clock, awake: AbortSignal): Promise<void> {
  const endMs = clock.monotonicMs() + ms;
  const spans = certificates.map(validity);
  const isDue = () => spans.some((span) => isOutOfDate(span, clock.now()));
  do await clock.sleep(Math.min(glanceMs, endMs - clock.monotonicMs()), awake);
  while (!awake.aborted && clock.monotonicMs() < endMs && !isDue());
}

function isOutOfDate({ notBeforeMs, notAfterMs }: ReturnType<typeof validity>, now: number): boolean {
  return now < notBeforeMs || notAfterMs - now < (notAfterMs - notBeforeMs) * minLeft;
}
