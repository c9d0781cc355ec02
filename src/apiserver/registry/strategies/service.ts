import type { Service } from '../../../api/index.ts';
import { StatusError, serviceKind } from '../../../api/index.ts';
import type { CachedStore, Stored } from '../../storage/index.ts';
import { ServiceAllocator } from '../services/allocator.ts';
import { Holdings } from '../services/holdings.ts';
import type { ServiceRanges } from '../services/ranges.ts';
import type { Strategy } from '../strategy.ts';
import { keyOf } from '../write/keys.ts';

/** Services get addresses and ports that no other service has. */
export function createServiceStrategy(
  storage: CachedStore,
  read: (stored: Stored) => Service,
  ranges: ServiceRanges,
): Strategy<Service> {
  const holdings = new Holdings(storage, read);
  const allocator = new ServiceAllocator(holdings, ranges);
  const allocate = (next: Service, old: Service | undefined) =>
    allocator.allocate(serviceKind.default(next), old, keyFor(next));
  return {
    beforeCreate: (service) => allocate(service, undefined),
    beforeUpdate: (next, old, { subresource }) => (subresource === '' ? allocate(next, old) : next),
    hold: (service) => holdings.hold(service, keyFor(service)),
    overtaken(now) {
      if (holdings.findOvertaken(now) === undefined) return undefined;
      const why = 'another server gave its address or port to another service at the same moment: try again';
      const { name = '' } = read(now).metadata ?? {};
      return new StatusError('ServiceUnavailable', `services ${JSON.stringify(name)}: ${why}`, {
        details: { retryAfterSeconds: 1 },
      });
    },
  };
}

function keyFor({ metadata }: Service): string {
  return keyOf(serviceKind, metadata?.namespace ?? '', metadata?.name ?? '');
}
