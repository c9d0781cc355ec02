/*
 * Components are named after the packages of the reference's types, because generated clients derive class names from them:
 * `io.k8s.api.core.v1.Pod`, `io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`. Clients find a kind by its
 * group, version and kind, never by this name, so the configured suffix of the groups is not in it.
 */

/** Group and version of a struct: `rbac.authorization/v1`, `core/v1`, and `meta/v1` for structs that all groups share. */
export function homeOf({ group, version }: { group: string; version: string }): string {
  return `${group === '' ? 'core' : group}/${version}`;
}

/** The component of a struct: `io.k8s.api.rbac.v1.PolicyRule`. */
export function componentName(home: string, name: string): string {
  const [group = '', version = ''] = home.split('/', 2);
  if (group === 'meta') return `io.k8s.apimachinery.pkg.apis.meta.${version}.${name}`;
  return `io.k8s.api.${group.split('.', 1)[0]}.${version}.${name}`;
}
