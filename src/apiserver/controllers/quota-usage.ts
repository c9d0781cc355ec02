import type { ApiObject } from '../../api/index.ts';
import { persistentVolumeClaimKind, podKind, resourceQuotaKind, serviceKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import type { Resource } from '../registry/index.ts';
import { followWritten } from '../registry/index.ts';
import type { ControllerOptions, Follows } from './controller.ts';
import { controller } from './controller.ts';
import { WhileFree } from './while-free.ts';

/** Between a change of an object and the count, so that a burst is counted once. */
const gatherMs = 100;

/** Everything is counted this often even if nothing changes: what pods take that should have gone ends with time. */
const recountMs = 300_000;

/** Of these kinds a change can change what an object takes; of all others it counts that there is one. */
const changing: ReadonlySet<string> = new Set([
  podKind.resource,
  serviceKind.resource,
  persistentVolumeClaimKind.resource,
]);

/**
 * Keeps the status of ResourceQuotas in agreement with the objects of their namespaces: what may be used, and what is. Stands
 * back while kube-controller-manager does it. The keys of its queue are namespaces.
 */
export function quotaUsage(options: ControllerOptions): Service {
  const { registry, storage, clock } = options;
  const { ledger } = registry;
  const quotas = registry.of(resourceQuotaKind);
  const whileFree = new WhileFree(options, 'the controller of quotas');
  const namespaces = () =>
    new Set(storage.list(quotas.prefix(''), '', 0).items.map(({ key }) => quotas.placeOf(key).namespace));

  return controller('quota-usage', options, (enqueue, signal) => {
    const gathering = new Set<string>();

    async function enqueueSoon(namespace: string): Promise<void> {
      if (gathering.has(namespace)) return;
      gathering.add(namespace);
      await clock.sleep(gatherMs, signal);
      gathering.delete(namespace);
      if (!signal.aborted) enqueue(namespace);
    }

    const noteChange = (resource: Resource) => (key: string) => {
      const { namespace } = resource.placeOf(key);
      if (ledger?.hasQuotas(namespace) === true) void enqueueSoon(namespace);
    };

    const followCounted = (resource: Resource): Follows => {
      const note = noteChange(resource);
      const { added, changed } = followWritten(note);
      const gone = ({ key }: { key: string }) => note(key);
      return { resource, added, gone, ...(changing.has(resource.kind.resource) ? { changed } : {}) };
    };

    const enqueueAll = () => {
      for (const namespace of namespaces()) enqueue(namespace);
    };
    const isCounted = ({ kind }: Resource<ApiObject>) =>
      kind.namespaced && !kind.virtual && kind.storedAs === undefined && kind.resource !== 'resourcequotas';
    return {
      follows: [
        { resource: quotas, ...followWritten((key) => enqueue(quotas.placeOf(key).namespace)) },
        ...registry.resources.filter(isCounted).map(followCounted),
      ],
      async work(namespace) {
        if (whileFree.isFree()) await ledger?.recount(namespace);
      },
      beside: () => [whileFree.run(enqueueAll, recountMs, signal)],
    };
  });
}
