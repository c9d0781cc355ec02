import { StatusError } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import type { Deletion } from '../../registry/index.ts';
import { context, unlessGone } from './changes.ts';
import type { Item, Objects } from './objects.ts';

export interface RemoverOptions {
  objects: Objects;
  /** Asks for an object to be looked at (again). */
  look(key: string): void;
  log: Logger;
}

/** Deletes what still names the owners that it was judged by; when it has changed since it is judged anew. */
export function remover({
  objects,
  look,
  log,
}: RemoverOptions): (item: Item, deletion: Deletion) => Promise<void> {
  function settle(key: string, error: unknown): void {
    if (!(error instanceof StatusError)) throw error;
    if (error.reason === 'Conflict') look(key);
    else if (error.reason === 'Forbidden') log.warn({ key }, `is kept: ${error.message}`);
    else throw error;
  }

  return async ({ key, resource, namespace, name, uid, metadata }, deletion) => {
    const now = objects.find(key)?.metadata;
    if (JSON.stringify(now?.ownerReferences) !== JSON.stringify(metadata.ownerReferences)) return look(key);
    const asJudged = { ...deletion, uid, resourceVersion: now?.resourceVersion ?? '' };
    try {
      await unlessGone(() => resource.delete(namespace, name, asJudged, context));
    } catch (error) {
      settle(key, error);
    }
  };
}
