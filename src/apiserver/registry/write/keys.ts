import type { Kind } from '../../../api/index.ts';

type Placed = Pick<Kind, 'resource' | 'namespaced' | 'storedAs'>;

/**
 * Everything of a kind, or of a kind in one namespace, starts with this: the reference's layout. A view of another
 * kind has that one's keys.
 */
export function prefixOf(kind: Placed, namespace: string): string {
  const { resource } = kind.storedAs?.kind ?? kind;
  return kind.namespaced && namespace !== ''
    ? `/registry/${resource}/${namespace}/`
    : `/registry/${resource}/`;
}

/** The key of one object; `namespace` is empty for cluster-scoped kinds. */
export function keyOf(kind: Placed, namespace: string, name: string): string {
  return `${prefixOf(kind, namespace)}${name}`;
}
