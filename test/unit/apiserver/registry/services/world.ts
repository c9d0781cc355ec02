import type { Service, ServiceSpec } from '../../../../../src/api/index.ts';
import { namespaceKind, StatusError, serviceKind } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import type { ServiceRanges } from '../../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import type { Store } from '../../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { VeiledStore } from '../../../../contract/storage/veiled-store.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const clock = createManualClock();

/** Services in the namespace default, in a store of their own or in one that another world has. */
export async function servicesWorld(serviceRanges?: ServiceRanges, shared?: Store) {
  const store = shared ?? (await openStore({ kind: 'memory', clock }));
  const storage = await createCache(new VeiledStore(store), { clock });
  const ranges = serviceRanges === undefined ? {} : { serviceRanges };
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [], ...ranges });
  const services = registry.of(serviceKind);
  const context = { user: controlPlaneUser, dryRun: false };
  if (shared === undefined)
    await registry.of(namespaceKind).create('', { metadata: { name: 'default' } }, context);

  const create = async (name: string, spec: ServiceSpec, dryRun = false): Promise<Service> =>
    services.encoding.read(
      await services.create('default', { metadata: { name }, spec }, { ...context, dryRun }),
    );
  const change = async (name: string, make: (spec: ServiceSpec) => ServiceSpec): Promise<Service> => {
    const place = { namespace: 'default', name };
    const how = {
      make: (service: Service) => ({ ...service, spec: make(structuredClone(service.spec ?? {})) }),
      operation: 'Update',
    } as const;
    return services.encoding.read(await services.change(place, how, '', context));
  };
  /** Replaces a service by what a client says that knows only these fields. */
  const replace = async (name: string, spec: ServiceSpec): Promise<Service> =>
    services.encoding.read(await services.update('default', name, { metadata: { name }, spec }, '', context));
  const remove = (name: string) => services.delete('default', name, {}, context);
  return { store, storage, registry, services, create, change, replace, remove };
}

/** The message with which something is refused. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
}
