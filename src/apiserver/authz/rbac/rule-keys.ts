/*
 * The keys under which roles are indexed, so that a question examines only roles that can allow it: a resource with its
 * subresource as rules write it, with the object's name where the rule is limited to names; or one key for all paths.
 */

export const everyResource = '*';
export const pathsKey = '/';

/** The key of a rule that is limited to names; resources contain no space. */
export function namedResourceKey(resource: string, name: string): string {
  return `${resource} ${name}`;
}
