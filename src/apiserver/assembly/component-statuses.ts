import type { ComponentStatus } from '../../api/index.ts';
import { componentStatus } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Measured } from '../handlers/index.ts';
import type { HealthCheck } from '../http/index.ts';
import type { Registry } from '../registry/index.ts';
import { isAtWork } from './idle-kinds.ts';

export interface ComponentStatusOptions {
  readonly registry: Registry;
  /** Whether this control plane gives pods nodes itself. */
  readonly hasScheduler: boolean;
  /** Asked for the store. */
  readonly storage: Pick<HealthCheck, 'check'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * What the reference says of its components, of what does their work here: this control plane itself, or a program of the
 * reference that renews its Lease.
 */
export function createComponentStatuses(options: ComponentStatusOptions): Measured<ComponentStatus> {
  const { registry, hasScheduler, storage, clock } = options;
  const isRenewed = (name: string) => isAtWork(registry, name, clock.now());
  const schedules = () =>
    hasScheduler || isRenewed('kube-scheduler')
      ? undefined
      : 'no scheduler is at work: none runs here, and nobody renews the Lease kube-system/kube-scheduler';
  const checks: Readonly<Record<string, HealthCheck['check']>> = {
    'controller-manager': () => undefined, // its controllers end with this server
    'etcd-0': () => storage.check(),
    scheduler: schedules,
  };
  return {
    kind: componentStatus,
    async read({ name }) {
      const asked = Object.entries(checks).filter(([each]) => name === '' || name === each);
      const objects = await Promise.all(asked.map(async ([each, check]) => statusOf(each, await check())));
      return { objects, warnings: ['v1 ComponentStatus is deprecated in v1.19+'] };
    },
  };
}

function statusOf(name: string, wrong: string | undefined): ComponentStatus {
  const found = wrong === undefined ? { status: 'True', message: 'ok' } : { status: 'False', error: wrong };
  return { metadata: { name }, conditions: [{ type: 'Healthy', ...found }] };
}
