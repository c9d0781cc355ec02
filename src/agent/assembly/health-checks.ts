import type { Clock } from '../../base/index.ts';
import type { Lock } from '../lock/index.ts';
import type { Heartbeat } from '../node/lease/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { HealthCheck } from '../server/index.ts';

/*
 * What `/healthz` looks at. All answer from what is known already: a probe must not wait for what it asks about.
 */

/** Those of the reference that are well when they are answered: its log, and its loop, which is ours, turns. */
export const selfChecks: readonly HealthCheck[] = ['ping', 'log', 'syncloop'].map((name) => ({
  name,
  check: () => undefined,
}));

export function lockCheck(lock: Pick<Lock, 'lost'>): HealthCheck {
  return { name: 'lock', check: () => (lock.lost.aborted ? 'another agent has taken the lock' : undefined) };
}

/** A lease that nobody has renewed for as long as it is good for tells the control plane that the node is lost. */
export function leaseCheck(
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

export function runtimeCheck(runtime: Pick<Runtime, 'status'>): HealthCheck {
  return {
    name: 'runtime',
    ofPeer: true,
    check() {
      const { ready, message, reason } = runtime.status();
      return ready ? undefined : message || reason;
    },
  };
}

/** One line on how the heartbeat goes. */
export function heartbeatText(heartbeat: Heartbeat | undefined, clock: Pick<Clock, 'monotonicMs'>): string {
  if (heartbeat === undefined) return 'none, there is no control plane';
  const { lastSuccessMonotonicMs, failures, lastError, lateCount } = heartbeat;
  const age =
    lastSuccessMonotonicMs === undefined
      ? 'not yet renewed'
      : `renewed ${Math.round((clock.monotonicMs() - lastSuccessMonotonicMs) / 1000)} s ago`;
  const wrong = failures === 0 ? '' : `, ${failures} failed since: ${lastError ?? ''}`;
  return `${age}${wrong}, ${lateCount} times late`;
}
