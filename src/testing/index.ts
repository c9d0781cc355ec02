/** A control plane inside the process of a test: the package's entry `nodeward/testing`. */
export { startApiServer } from './start.ts';
export type * from './types.ts';
