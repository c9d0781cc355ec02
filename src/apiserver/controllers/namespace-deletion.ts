import type { ApiObject, Namespace } from '../../api/index.ts';
import { namespaceKind, StatusError } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { untilAborted } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { CachedStore } from '../storage/index.ts';
import { createWorkQueue } from './work-queue.ts';

const context = { user: controlPlaneUser, dryRun: false };
const contentFinalizer = 'kubernetes';
const pageSize = 500;

export interface ControllerOptions {
  registry: Registry;
  storage: CachedStore;
  clock: Clock;
  log: Logger;
}

/**
 * Empties a namespace that is being deleted, then lets it go (specification, section 4.3). Whether something may be
 * created in a namespace is looked at before it is written, so what was on its way then comes late: that is emptied
 * too, even when the namespace is gone by then.
 */
export function namespaceDeletion(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const namespaces = registry.of(namespaceKind);
  const contents = registry.resources.filter(({ kind }) => kind.namespaced);
  const prefix = namespaces.prefix('');

  function find(name: string): Namespace | undefined {
    const stored = storage.get(prefix + name);
    return stored && namespaces.encoding.read(stored);
  }

  function isAlive(name: string): boolean {
    const namespace = find(name);
    return namespace !== undefined && namespace.metadata?.deletionTimestamp === undefined;
  }

  async function work(name: string): Promise<void> {
    if (isAlive(name)) return;
    for (const resource of contents) await empty(resource, name);
    const namespace = find(name);
    if (namespace === undefined || isAlive(name)) return;
    const finalizers = (namespace.spec?.finalizers ?? []).filter(
      (finalizer) => finalizer !== contentFinalizer,
    );
    await namespaces.update('', name, { ...namespace, spec: { finalizers } }, 'finalize', context);
  }

  async function empty(resource: Resource, namespace: string): Promise<void> {
    let held = 0;
    for (let after = ''; ; ) {
      const page = storage.list(resource.prefix(namespace), after, pageSize);
      for (const stored of page.items) {
        after = stored.key;
        if (isAlive(namespace)) return; // made anew meanwhile
        if (!(await removed(resource, namespace, resource.encoding.read(stored)))) held++;
      }
      if (page.remaining === 0) break;
    }
    if (held > 0) throw new Error(`${held} ${resource.kind.resource} in ${namespace} still have finalizers`);
  }

  /** The namespace that a key is about: its own, or that of a namespaced object. */
  function namespaceOf(key: string): string | undefined {
    const inside = contents.find((resource) => key.startsWith(resource.prefix('')))?.prefix('') ?? prefix;
    return key.startsWith(inside) ? key.slice(inside.length).split('/', 1)[0] : undefined;
  }

  return {
    name: 'namespace-deletion',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      const queue = createWorkQueue({ work, clock: options.clock, log: options.log });
      const look = (key: string) => {
        const name = namespaceOf(key);
        if (name !== undefined && !isAlive(name)) queue.add(name);
      };
      using _listener = storage.onApply(({ key, previous, next }) => {
        const isUpdate = previous !== null && next !== null;
        if (!isUpdate || key.startsWith(prefix)) look(key);
      });
      for (const resource of [namespaces, ...contents]) {
        for (const { key } of storage.list(resource.prefix(''), '', 0).items) look(key);
      }
      ready();
      await Promise.all([queue.run(signal), untilAborted(signal)]);
    },
  };
}

/** Whether the object is gone. It alone is meant, not one that came to its name since. */
async function removed(
  resource: Resource,
  namespace: string,
  { metadata = {} }: ApiObject,
): Promise<boolean> {
  const { name = '', uid } = metadata;
  try {
    return (await resource.delete(namespace, name, uid === undefined ? {} : { uid }, context)).gone;
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'NotFound') return true;
    throw error;
  }
}
