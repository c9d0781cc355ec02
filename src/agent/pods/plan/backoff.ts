/**
 * When something that failed is tried again. Nothing here is random: each wait ends at a time that can be named.
 *
 * Restarts of a container follow the reference: the first end is followed at once; after that a container waits, from its end
 * on, 10 s, then 20 s and so on up to the maximum. One that ended later than twice the maximum after its last restart
 * begins again.
 */

import { fnv1a } from '../../containers/index.ts';
import type { Exit, PodContainer } from './containers.ts';
import type { PlanSettings, RestartBackoff, StartFailure } from './types.ts';

const firstRestartMs = 10_000;
const firstRetryMs = 1000;
const maxRetryMs = 60_000;
/** Of what only a change from outside can repair; the worker tries it at once when it sees such a change. */
const configRetryMs = 10_000;
export const configError = 'CreateContainerConfigError';
/** An end that is further in the future was written before the clock was set back. */
const maxClockErrorMs = 1000;

/** Equal as long as a restart is a restart of the same thing. */
export function backoffKey({ name, image = '', resources }: PodContainer['spec']): string {
  return fnv1a(JSON.stringify([name, image, resources ?? {}]));
}

/** When the container may be started again after that end; undefined: now. */
export function restartAtMs(
  container: PodContainer,
  exit: Exit,
  nowMs: number,
  settings: PlanSettings,
): number | undefined {
  const backoff = validBackoff(container, exit, settings);
  if (backoff === undefined || backoff.afterId === exit.id || exit.finishedMs === undefined) return undefined;
  if (exit.finishedMs > nowMs + maxClockErrorMs) return undefined;
  const atMs = exit.finishedMs + backoff.waitMs;
  return atMs > nowMs ? atMs : undefined;
}

/** How long the wait is that `restartAtMs` ends. */
export function restartWaitMs(container: PodContainer): number {
  return container.record?.backoff?.waitMs ?? 0;
}

/** What is to be remembered when the container is started after that end. */
export function nextBackoff(
  container: PodContainer,
  exit: Exit,
  nowMs: number,
  settings: PlanSettings,
): RestartBackoff {
  const before = validBackoff(container, exit, settings);
  if (before !== undefined && before.afterId === exit.id) return before;
  const { maxRestartWaitMs } = settings;
  const waitMs = Math.min(before === undefined ? firstRestartMs : before.waitMs * 2, maxRestartWaitMs);
  return { key: backoffKey(container.spec), waitMs, sinceMs: nowMs, afterId: exit.id };
}

function validBackoff(
  { spec, record }: PodContainer,
  exit: Exit,
  settings: PlanSettings,
): RestartBackoff | undefined {
  const backoff = record?.backoff;
  if (backoff === undefined || backoff.key !== backoffKey(spec)) return undefined;
  if (backoff.afterId === exit.id) return backoff;
  const ranMs = (exit.finishedMs ?? backoff.sinceMs) - backoff.sinceMs;
  return ranMs > 2 * settings.maxRestartWaitMs ? undefined : backoff;
}

/** When a start that failed is tried again. */
export function startRetryAtMs({ reason, atMs, count, isDue = false }: StartFailure): number {
  if (isDue) return atMs;
  return reason === configError ? atMs + configRetryMs : retryAtMs({ atMs, count });
}

/**
 * When that retry is due; undefined: now. A failure in the future was written before the clock was set back, and is waited for
 * no longer.
 */
export function pendingUntilMs(
  failure: { readonly atMs: number },
  retryMs: number,
  nowMs: number,
): number | undefined {
  return retryMs > nowMs && failure.atMs <= nowMs + maxClockErrorMs ? retryMs : undefined;
}

/** One second after the first failure, doubled up to a minute. */
export function retryAtMs({ atMs, count }: { readonly atMs: number; readonly count: number }): number {
  return atMs + Math.min(firstRetryMs * 2 ** Math.max(0, count - 1), maxRetryMs);
}
