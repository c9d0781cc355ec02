/** What a pod says and can learn about itself, for its environment and its files. */

export { expandReferences } from './expand.ts';
export { containerResource, type DownwardFacts, podField } from './fields.ts';
export { type AnyContainer, findContainer, listContainers, namespaceOf, quotePod } from './find-container.ts';
