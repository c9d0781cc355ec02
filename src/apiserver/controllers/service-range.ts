import { isDeepStrictEqual } from 'node:util';
import type { ServiceCIDR } from '../../api/index.ts';
import { formatTime, serviceCIDRKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import { followWritten } from '../registry/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { findReadable, isUnreadable } from './presence.ts';
import { ignoreRace } from './races.ts';

export interface ServiceRangeOptions extends ControllerOptions {
  /** CIDRs out of which Services get their addresses; that of the first family first. */
  readonly ranges: readonly string[];
}

const context = { user: controlPlaneUser, dryRun: false };
const name = 'kubernetes';
const ready = 'Ready';

/**
 * Keeps the ServiceCIDR `kubernetes`, by which programs learn the ranges of `--service-cluster-ip-range`. What they are does
 * not follow from it: where it says something else, it is made again.
 */
export function serviceRange(options: ServiceRangeOptions): Service {
  const { registry, storage, clock, ranges } = options;
  const resource = registry.of(serviceCIDRKind);
  const key = resource.prefix('') + name;

  function withReady(now: ServiceCIDR): ServiceCIDR {
    const conditions = now.status?.conditions ?? [];
    const made = {
      type: ready,
      status: 'True',
      reason: '',
      message: 'Kubernetes default Service CIDR is ready',
      lastTransitionTime: formatTime(clock.now()),
    };
    return { ...now, status: { ...now.status, conditions: [...conditions, made] } };
  }

  async function work(): Promise<void> {
    const stored = findReadable(storage, key);
    if (stored === undefined) {
      if (!isUnreadable(storage, key))
        await resource
          .create('', { metadata: { name }, spec: { cidrs: [...ranges] } }, context)
          .catch(ignoreRace);
      return;
    }
    const { metadata = {}, spec, status } = resource.encoding.read(stored);
    if (metadata.deletionTimestamp !== undefined) return;
    if (!isDeepStrictEqual(spec?.cidrs, ranges)) {
      const { uid = '' } = metadata;
      await resource.delete('', name, { uid }, context).catch(ignoreRace);
      return;
    }
    if (status?.conditions?.some(({ type }) => type === ready)) return;
    const change = { make: withReady, operation: 'Update' } as const;
    await resource.change({ namespace: '', name }, change, 'status', context).catch(ignoreRace);
  }

  return controller('service-range', options, (enqueue) => {
    const onKey = (changed: string) => changed === key && enqueue(key);
    return {
      follows: [{ resource, ...followWritten(onKey), gone: (previous) => onKey(previous.key) }],
      prepare: async () => enqueue(key),
      work,
    };
  });
}
