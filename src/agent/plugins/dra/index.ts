/** Drivers of dynamically allocated resources on this node: registration, and what pods ask of them. */
export { createDraHandler, type DraHandlerOptions } from './handler.ts';
export type {
  DraClaim,
  DraDriver,
  DraDrivers,
  DraReadiness,
  Prepared,
  PreparedDevice,
  Unprepared,
} from './types.ts';
