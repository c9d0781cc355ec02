export { type CallOptions, callStream, callUnary } from './call.ts';
export { openTcpClient, openUnixClient, type TcpClient, type UnixClient } from './client.ts';
export { GrpcError, grpcCodes } from './errors.ts';
export { type Handlers, type Implementation, implement } from './implement.ts';
export { keepServing } from './keep-serving.ts';
export { serveUnix, type UnixServerOptions } from './server.ts';
export { findSocketPathFault, isListening, maxSocketPathBytes } from './unix-path.ts';
