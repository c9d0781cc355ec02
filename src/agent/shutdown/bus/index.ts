/** A client of the system's D-Bus, small enough to be bounded everywhere. */
export { type BusCall, BusConnection, BusError, bus, findBusPath } from './connection.ts';
export { arrayOf, type BusDraft, type BusMessage, encodeMessage, MessageParser } from './message.ts';
export type { BusValue } from './wire.ts';
