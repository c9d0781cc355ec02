/** Drivers of dynamically allocated resources on this node: registration, and the calls for pods. */
export { DraHandler, type DraHandlerOptions } from './handler.ts';
export type { DraDriver, DraDrivers } from './types.ts';
