export { type CallOptions, callStream, callUnary } from './call.ts';
export { openUnixClient, type UnixClient, type UnixClientOptions } from './client.ts';
export { GrpcError, grpcCodes } from './errors.ts';
export { type Handler, type Handlers, type Implementation, implement, type Served } from './implement.ts';
export { type KeptServerOptions, keepServing } from './keep-serving.ts';
export { serveUnix, type UnixServerOptions } from './server.ts';
export { findSocketPathFault, isListening, maxSocketPathBytes } from './unix-path.ts';
