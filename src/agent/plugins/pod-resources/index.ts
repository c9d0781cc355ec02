/** The pod resources service on the node (specification 2.6; `v1` and `v1alpha1`). */

export { podResourcesServer } from './server.ts';
