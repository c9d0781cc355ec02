/*
 * What a rule is about, so that those are found that can answer a question: a resource with its subresource as rules
 * write it, and the name where the rule is limited to names; or paths.
 */

export const everyResource = '*';
export const paths = '/';

/** Of a rule for some names; no resource has a space in it. */
export function namedTopic(resource: string, name: string): string {
  return `${resource} ${name}`;
}
