import type { TLSSocket } from 'node:tls';

/** What a verified client certificate says about its holder. */
export interface PeerCertificate {
  commonName: string;
  organizations: readonly string[];
  /** Wall clock, milliseconds. */
  notAfterMs: number;
}

/**
 * The client certificate of a connection, when the TLS handshake verified it against the server's client CA;
 * else undefined. Costs about 0.1 ms: keep the result with the connection, and compare `notAfterMs` on every
 * request, because only the handshake has compared it.
 */
export function readPeerCertificate(socket: TLSSocket): PeerCertificate | undefined {
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  const { CN: commonName, O: organization } = certificate.subject ?? {};
  if (commonName === undefined) return undefined;
  return {
    commonName: lastOf(commonName),
    organizations: organization === undefined ? [] : [organization].flat(),
    notAfterMs: Date.parse(certificate.valid_to),
  };
}

/** A subject with several common names is known by its last, as the reference has it. */
function lastOf(value: string | string[]): string {
  return Array.isArray(value) ? (value.at(-1) ?? '') : value;
}
