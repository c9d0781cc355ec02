import { componentStatus, measuredKinds, resolveGates, servedKinds } from '../../api/index.ts';
import type { Authorizer } from '../authz/index.ts';
import {
  ensureDefaultPolicy,
  ensureSystemNamespaces,
  ensureSystemPriorityClasses,
} from '../controllers/index.ts';
import type { ServiceAccountKey } from '../pki/index.ts';
import type { Registry } from '../registry/index.ts';
import { createRegistry } from '../registry/index.ts';
import type { RunningScheduler } from '../scheduler/index.ts';
import { createPlacementExplanation } from '../scheduler/index.ts';
import type { CachedStore } from '../storage/index.ts';
import type { Access } from './access.ts';
import { createAccess } from './access.ts';
import { idleKindAdvice } from './idle-kinds.ts';
import type { ApiServerOptions } from './options.ts';

interface Parts {
  storage: CachedStore;
  key: ServiceAccountKey;
  /** Asked last about what nobody before it has an opinion on. */
  webhook: Authorizer | undefined;
  /** Of which a pod that has no node is explained. */
  running: RunningScheduler;
}

/**
 * The kinds with their objects, and who may do what with them; what everything else counts on is there. Throws an ExitError
 * for what an operator must mend.
 */
export async function assembleRegistry(
  options: ApiServerOptions,
  { storage, key, webhook, running }: Parts,
): Promise<{ registry: Registry; access: Access }> {
  const { groupSuffix, authentication, clock, log } = options;
  const access = await createAccess({
    key,
    authentication,
    webhook,
    clock,
    log: log.child({ part: 'authentication' }),
    groupSuffix,
    registry: () => registry,
  });
  const gates = options.featureGates ?? resolveGates({});
  const { authorizer } = access;
  const placing = { authorizer, running, settings: options.scheduler ?? {}, clock, log };
  const idle = idleKindAdvice(() => registry, clock, options.workloadControllers ?? true);
  const registry: Registry = createRegistry({
    kinds: [...servedKinds, componentStatus, ...(gates.ResourceMetricsAPI ? measuredKinds : [])],
    storage,
    clock,
    groupSuffix,
    admission: access.admission,
    advice: (resource, next) => [...access.rbac.advice(resource, next), ...idle(resource, next)],
    operations: [...access.operations, createPlacementExplanation(placing)],
    ...(options.serviceRanges === undefined ? {} : { serviceRanges: options.serviceRanges }),
    defaultTolerations: options.defaultTolerations,
    gates,
  });
  await ensureSystemNamespaces(registry);
  await ensureSystemPriorityClasses(registry, log);
  await ensureDefaultPolicy(registry, log);
  access.load();
  return { registry, access };
}
