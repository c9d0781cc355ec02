import type { ServingCredentials } from '../identity/index.ts';

const minVersion = 'TLSv1.2';
const handshakeTimeoutMs = 10_000;

/**
 * Of a server that has no certificate yet: it takes connections and can complete no handshake. Once it has one, clients
 * are asked for theirs; one that is missing or bad is answered with 401, in words, instead of a broken handshake.
 */
export const tlsOptions = {
  requestCert: true,
  rejectUnauthorized: false,
  minVersion,
  handshakeTimeout: handshakeTimeoutMs,
} as const;

/** What new connections are served with. */
export function secureContext({ pair, clientCa }: ServingCredentials) {
  return { key: pair.key, cert: pair.cert, ca: clientCa, minVersion } as const;
}
