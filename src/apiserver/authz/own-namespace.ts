/**
 * The namespace of an action on an object, as authorizers take it. A namespace counts as in itself, as in the reference: a
 * Role in it can allow to get it.
 */
export function namespaceInQuestion(
  { group, resource }: { group: string; resource: string },
  { namespace, name }: { namespace: string; name: string },
): string {
  return group === '' && resource === 'namespaces' && namespace === '' ? name : namespace;
}
