import type { Namespace } from '../../api/index.ts';
import { namespaceKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import type { Remainder } from './namespace-conditions.ts';
import { withConditions } from './namespace-conditions.ts';
import { emptyNamespace } from './namespace-content.ts';

const context = { user: controlPlaneUser, dryRun: false };
const contentFinalizer = 'kubernetes';

/**
 * Empties a namespace that is being deleted, then lets it go (specification, section 4.3). Whether something may be
 * created in a namespace is looked at before it is written, so what was on its way then comes late: that is emptied
 * too, even when the namespace is gone by then.
 */
export function namespaceDeletion(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const namespaces = registry.of(namespaceKind);
  const contents = registry.resources.filter(
    ({ kind }) => kind.namespaced && !kind.virtual && kind.storedAs === undefined,
  );

  function find(name: string): Namespace | undefined {
    const stored = storage.get(namespaces.prefix('') + name);
    return stored && namespaces.encoding.read(stored);
  }

  function isAlive(name: string): boolean {
    const namespace = find(name);
    return namespace !== undefined && namespace.metadata?.deletionTimestamp === undefined;
  }

  function findGoing(name: string): Namespace | undefined {
    const namespace = find(name);
    return namespace?.metadata?.deletionTimestamp === undefined ? undefined : namespace;
  }

  async function work(name: string): Promise<void> {
    if (isAlive(name)) return;
    const left = await emptyNamespace(contents, name, () => !isAlive(name)); // it may be made anew meanwhile
    await tell(name, left);
    if (left.objects.size === 0) return await finalize(name);
    // what goes tells of it; this is for what has only time of its own
    throw new Error(`something in the namespace ${name} is not gone yet`);
  }

  async function tell(name: string, left: Remainder): Promise<void> {
    const namespace = findGoing(name);
    const isNews = left.objects.size > 0 || (namespace?.status?.conditions ?? []).length > 0;
    if (namespace !== undefined && isNews) {
      await update(withConditions(namespace, left, options.clock.now()), 'status');
    }
  }

  async function finalize(name: string): Promise<void> {
    const namespace = findGoing(name);
    if (namespace === undefined) return;
    const finalizers = (namespace.spec?.finalizers ?? []).filter((other) => other !== contentFinalizer);
    await update({ ...namespace, spec: { finalizers } }, 'finalize');
  }

  async function update(namespace: Namespace, subresource: string): Promise<void> {
    await namespaces.update('', namespace.metadata?.name ?? '', namespace, subresource, context);
  }

  return controller('namespace-deletion', options, (add) => {
    const look = (name: string) => {
      if (!isAlive(name)) add(name);
    };
    const lookAtIt = ({ key }: Stored) => look(namespaces.placeOf(key).name);
    return {
      follows: [
        { resource: namespaces, present: lookAtIt, added: lookAtIt, changed: lookAtIt, gone: lookAtIt },
        ...contents.map((resource) => {
          const lookAround = ({ key }: Stored) => look(resource.placeOf(key).namespace);
          return { resource, present: lookAround, added: lookAround, gone: lookAround };
        }),
      ],
      work,
    };
  });
}
