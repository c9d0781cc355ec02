import type { ServingCredentials } from '../identity/index.ts';

/** How connections are secured, as the configuration says. */
export interface TlsSettings {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** In the language of OpenSSL; undefined: its own choice. */
  readonly ciphers: string | undefined;
}

/**
 * Of a server that has no certificate yet: it takes connections and can complete no handshake. Once it has one, clients
 * are asked for theirs; one that is missing or bad is answered with 401, in words, instead of a broken handshake.
 */
export const tlsOptions = {
  requestCert: true,
  rejectUnauthorized: false,
  minVersion: 'TLSv1.2',
} as const;

/** What new connections are served with. */
export function secureContext({ pair, clientCa }: ServingCredentials, { minVersion, ciphers }: TlsSettings) {
  return {
    key: pair.key,
    cert: pair.cert,
    ca: clientCa,
    minVersion,
    ...(ciphers === undefined ? {} : { ciphers, honorCipherOrder: true }),
  } as const;
}
