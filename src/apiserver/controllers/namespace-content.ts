import type { ApiObject } from '../../api/index.ts';
import { qualifiedResource, StatusError } from '../../api/index.ts';
import { forEachConcurrently } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Resource } from '../registry/index.ts';
import type { CachedStore } from '../storage/index.ts';
import type { Remainder } from './namespace-conditions.ts';
import { isUnreadable } from './presence.ts';

const context = { user: controlPlaneUser, dryRun: false };
const pageSize = 500;
/** Deletions at once: enough to share the store's group commits. */
const atOnce = 16;

/** Called before every deletion: false ends the work. */
type GoOn = () => boolean;

/**
 * Deletes everything of these kinds in a namespace. Returns what is left: objects with finalizers or a grace period, and
 * those that cannot be read.
 */
export async function emptyNamespace(
  contents: readonly Resource[],
  namespace: string,
  goOn: GoOn,
): Promise<Omit<Remainder, 'foreign'>> {
  const left = {
    objects: new Map<string, number>(),
    finalizers: new Map<string, number>(),
    unreadable: new Map<string, number>(),
  };
  for (const resource of contents) {
    const name = qualifiedResource(resource.kind, resource.groupSuffix);
    await emptyKind(resource, namespace, goOn, ({ metadata }) => {
      count(left.objects, name);
      for (const finalizer of metadata?.finalizers ?? []) count(left.finalizers, finalizer);
    });
    const others = resource.storage.unreadable(resource.prefix(namespace)).length;
    if (others > 0) left.unreadable.set(name, others);
  }
  return left;
}

/** How many objects other programs keep in a namespace, by folder; `own`: the prefixes of the kinds that are served here. */
export async function countForeign(
  storage: CachedStore,
  namespace: string,
  own: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const folders = await storage.foreignKeys(namespace, own);
  return new Map([...folders].map(([folder, count]) => [folder.replace(/\/$/, ''), count]));
}

async function emptyKind(
  resource: Resource,
  namespace: string,
  goOn: GoOn,
  onLeft: (object: ApiObject) => void,
): Promise<void> {
  for (let after = ''; ; ) {
    const page = resource.storage.list(resource.prefix(namespace), after, pageSize);
    await forEachConcurrently(page.items, atOnce, async (stored) => {
      if (!goOn() || isUnreadable(resource.storage, stored.key)) return;
      const left = await remove(resource, namespace, resource.encoding.read(stored));
      if (left !== undefined) onLeft(left);
    });
    after = page.items.at(-1)?.key ?? after;
    if (page.remaining === 0 || !goOn()) return;
  }
}

/** Returns the object if it remains, undefined when it is gone. A newer object of the same name is not deleted. */
async function remove(
  resource: Resource,
  namespace: string,
  { metadata = {} }: ApiObject,
): Promise<ApiObject | undefined> {
  const { name = '', uid } = metadata;
  try {
    const { last, gone } = await resource.delete(namespace, name, uid === undefined ? {} : { uid }, context);
    return gone ? undefined : last;
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}

/** Names that are counted; only some of them are reported anyway. */
const maxNames = 1000;

function count(counts: Map<string, number>, name: string): void {
  if (counts.size >= maxNames && !counts.has(name)) return;
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
