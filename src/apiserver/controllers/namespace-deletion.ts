import type { Namespace } from '../../api/index.ts';
import { namespaceKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import type { Remainder } from './namespace-conditions.ts';
import { isEmpty, isReportedElsewhere, withConditions } from './namespace-conditions.ts';
import { countForeign, emptyNamespace } from './namespace-content.ts';
import { isProvenAbsent, isUnreadable } from './presence.ts';

const context = { user: controlPlaneUser, dryRun: false };
const contentFinalizer = 'kubernetes';
const noKeys: ReadonlyMap<string, number> = new Map();

/**
 * Empties a namespace that is being deleted, then removes its finalizer (specification, section 4.3). Whether an object
 * may be created in a namespace is checked before it is written, so an object may still appear after the deletion has
 * begun: it is deleted too, even when the namespace is gone by then. A namespace that cannot be read counts as alive. Where
 * other programs keep objects of further kinds in it, it stays until they have deleted those.
 */
export function namespaceDeletion(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const namespaces = registry.of(namespaceKind);
  const contents = registry.resources.filter(
    ({ kind }) => kind.namespaced && !kind.virtual && kind.storedAs === undefined,
  );
  const own = registry.resources.map((resource) => resource.prefix(''));

  function find(name: string): Namespace | undefined {
    const stored = storage.get(namespaces.prefix('') + name);
    return stored && namespaces.encoding.read(stored);
  }

  function isAlive(name: string): boolean {
    if (isUnreadable(storage, namespaces.prefix('') + name)) return true;
    const namespace = find(name);
    return namespace !== undefined && namespace.metadata?.deletionTimestamp === undefined;
  }

  function findGoing(name: string): Namespace | undefined {
    const namespace = find(name);
    return namespace?.metadata?.deletionTimestamp === undefined ? undefined : namespace;
  }

  async function work(name: string): Promise<void> {
    if (isAlive(name)) return;
    const key = namespaces.prefix('') + name;
    if (findGoing(name) === undefined && !(await isProvenAbsent(storage, key))) return;
    const content = await emptyNamespace(contents, name, () => !isAlive(name)); // it may be created again meanwhile
    if (isAlive(name)) return;
    // only a namespace that is still there can wait for other programs
    const foreign = findGoing(name) === undefined ? noKeys : await countForeign(storage, name, own);
    const left = { ...content, foreign };
    await reportContent(name, left);
    if (isEmpty(left)) return await finalize(name);
    // an object that is removed enqueues its namespace; this retry is for objects that only wait for their grace period
    throw new Error(`something in the namespace ${name} is not gone yet`);
  }

  async function reportContent(name: string, left: Remainder): Promise<void> {
    const namespace = findGoing(name);
    const isNews = !isEmpty(left) || (namespace?.status?.conditions ?? []).length > 0;
    if (namespace !== undefined && isNews && !isReportedElsewhere(namespace, left)) {
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
    const addIfDeleted = (name: string) => {
      if (!isAlive(name)) add(name);
    };
    const addIt = ({ key }: Stored) => addIfDeleted(namespaces.placeOf(key).name);
    return {
      follows: [
        { resource: namespaces, present: addIt, added: addIt, changed: addIt, gone: addIt },
        ...contents.map((resource) => {
          const addNamespace = ({ key }: Stored) => addIfDeleted(resource.placeOf(key).namespace);
          return { resource, present: addNamespace, added: addNamespace, gone: addNamespace };
        }),
      ],
      work,
    };
  });
}
