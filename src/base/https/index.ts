/** An HTTPS server on one port: TLS, limits against abusive clients, optional HTTP/2, an orderly stop. */
export type { ClientErrorCode, ErrorBody } from './client-error.ts';
export { allowStall, reportAuthenticated } from './connections.ts';
export type { TlsCredentials, TlsSettings } from './credentials.ts';
export type { HttpsLimits } from './limits.ts';
export { type ListenAddress, listenError } from './listen.ts';
export {
  type Agreed,
  type AskOptions,
  askUpgrade,
  type Declined,
  type PassOptions,
  passUpgrade,
  upgradeHeaders,
} from './pass-upgrade.ts';
export { type HttpsApp, HttpsServer, type HttpsServerOptions } from './server.ts';
export { type Upgrade, upgradeOf } from './upgrades.ts';
