/** The control plane: the API over HTTPS, its storage, and the controllers. */
export { type RunningApiServer, runApiServer } from './api-server.ts';
export type { ApiServerOptions } from './assembly/options.ts';
export { type NodeRequest, SigningRefusedError } from './pki/index.ts';
export type { StorageKind } from './storage/index.ts';
