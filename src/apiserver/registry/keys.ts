import type { Kind } from '../../api/index.ts';

type Placed = Pick<Kind, 'resource' | 'namespaced'>;

/** Everything of a kind, or of a kind in one namespace, starts with this: the reference's layout. */
export function prefixOf(kind: Placed, namespace: string): string {
  return kind.namespaced && namespace !== ''
    ? `/registry/${kind.resource}/${namespace}/`
    : `/registry/${kind.resource}/`;
}

/** The key of one object; `namespace` is empty for cluster-scoped kinds. */
export function keyOf(kind: Placed, namespace: string, name: string): string {
  return `${prefixOf(kind, namespace)}${name}`;
}
