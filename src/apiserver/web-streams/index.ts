/** Clients over WebSocket, in front of runtimes that speak SPDY/3.1. */
export { MessageMemory } from './message-memory.ts';
export type { StreamWishes } from './translate.ts';
export { readWebStream, type WebStream } from './web-stream.ts';
