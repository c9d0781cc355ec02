import type { Clock } from '../../base/index.ts';
import type { Lock } from '../lock/index.ts';
import type { Heartbeat } from '../node/lease/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { HealthCheck } from '../server/index.ts';

/*
 * The checks of `/healthz`. All use what is known already: a probe must not wait for what it checks.
 */

/** Checks of the reference that pass whenever they run: its log, and its sync loop, here the event loop. */
export const selfChecks: readonly HealthCheck[] = ['ping', 'log', 'syncloop'].map((name) => ({
  name,
  check: () => undefined,
}));

export function createLockCheck(lock: Pick<Lock, 'lost'>): HealthCheck {
  return { name: 'lock', check: () => (lock.lost.aborted ? 'another agent has taken the lock' : undefined) };
}

/** Fails when the lease has expired, as the control plane then takes the node for lost. */
export function createLeaseCheck(
  heartbeat: () => Heartbeat | undefined,
  leaseMs: number,
  clock: Pick<Clock, 'monotonicMs'>,
): HealthCheck {
  const bornMs = clock.monotonicMs();
  return {
    name: 'lease',
    ofPeer: true,
    check() {
      const { lastSuccessMonotonicMs, lastError } = heartbeat() ?? {};
      const ageMs = clock.monotonicMs() - (lastSuccessMonotonicMs ?? bornMs);
      if (ageMs <= leaseMs) return undefined;
      const since = `the lease has not been renewed for ${Math.round(ageMs / 1000)} s`;
      return lastError === undefined ? since : `${since}: ${lastError}`;
    },
  };
}

export function createRuntimeCheck(runtime: Pick<Runtime, 'status'>): HealthCheck {
  return {
    name: 'runtime',
    ofPeer: true,
    check() {
      const { ready, message, reason } = runtime.status();
      return ready ? undefined : message || reason;
    },
  };
}

/** One line on the state of the heartbeat. */
export function formatHeartbeat(heartbeat: Heartbeat | undefined, clock: Pick<Clock, 'monotonicMs'>): string {
  if (heartbeat === undefined) return 'none, there is no control plane';
  const { lastSuccessMonotonicMs, failures, lastError, lateCount } = heartbeat;
  const age =
    lastSuccessMonotonicMs === undefined
      ? 'not yet renewed'
      : `renewed ${Math.round((clock.monotonicMs() - lastSuccessMonotonicMs) / 1000)} s ago`;
  const wrong = failures === 0 ? '' : `, ${failures} failed since: ${lastError ?? ''}`;
  return `${age}${wrong}, ${lateCount} times late`;
}
