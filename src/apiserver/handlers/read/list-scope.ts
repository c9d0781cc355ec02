import type { FieldIndex } from '../../registry/index.ts';
import type { ApiRequest } from '../request.ts';
import type { Selectors } from './list-selectors.ts';

/** The range of keys in which the objects of a list are searched: it contains all selected ones, and perhaps others. */
export interface ListScope {
  prefix: string;
  /** At most the object whose key is exactly this prefix is selected. */
  single: boolean;
  /** Finds the objects in the current state of memory. */
  index: { of: FieldIndex; value: string } | undefined;
}

export function listScope({ resource, namespace }: ApiRequest, selectors: Selectors | undefined): ListScope {
  const { namespaced, selectable } = resource.kind;
  const space = namespace || selectors?.exact('metadata.namespace') || '';
  const prefix = resource.prefix(space);
  const name = selectors?.exact('metadata.name') || '';
  if (name !== '' && (space !== '' || !namespaced)) {
    return { prefix: `${prefix}${name}`, single: true, index: undefined };
  }
  for (const { path, indexed } of selectable) {
    const value = indexed ? selectors?.exact(path) : undefined;
    const of = value === undefined ? undefined : resource.index(path);
    if (value !== undefined && of !== undefined) return { prefix, single: false, index: { of, value } };
  }
  return { prefix, single: false, index: undefined };
}
