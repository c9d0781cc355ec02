import { measuredKinds, servedKinds } from '../../api/index.ts';
import type { Attributes } from '../authz/index.ts';
import { namespaceInQuestion } from '../authz/index.ts';

/** The action as a request for the object asks for it: what is done with a namespace is done in it. */
export function inOwnNamespace(attributes: Attributes): Attributes {
  if ('path' in attributes || collectionVerbs.includes(attributes.verb)) return attributes;
  return { ...attributes, namespace: namespaceInQuestion(attributes, attributes) };
}

const collectionVerbs: readonly string[] = ['list', 'watch', 'deletecollection'];

/** Whether a role for this can have an effect: paths, `*`, the kinds of this server, and what exists only in rules. */
export function isServed(attributes: Attributes): boolean {
  if ('path' in attributes) return true;
  const { verb, group, resource } = attributes;
  if (resource === '*' || verb === 'impersonate' || resource === 'signers') return true;
  return [...servedKinds, ...measuredKinds].some((kind) => {
    const isNamed = kind.group !== '' && group.startsWith(`${kind.group}.`);
    return kind.resource === resource && (group === '*' || group === kind.group || isNamed);
  });
}
