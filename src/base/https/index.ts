/** An HTTPS server on one port: TLS, bounds against bad clients, HTTP/2 where wanted, an orderly stop. */
export type { ClientErrorCode, ErrorBody } from './client-error.ts';
export type { TlsCredentials, TlsSettings } from './credentials.ts';
export type { HttpsLimits } from './limits.ts';
export { type ListenAddress, listenError } from './listen.ts';
export { type HttpsApp, HttpsServer, type HttpsServerOptions } from './server.ts';
