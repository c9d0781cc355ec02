import type { TLSSocket } from 'node:tls';
import type { PeerCertificate } from '../../../base/index.ts';
import { readPeerCertificate } from '../../../base/index.ts';
import { withAuthenticated } from './groups.ts';
import type { Caller } from './types.ts';

/** `none`: the connection has no certificate; `bad`: one that is not verified, names no subject, or has expired. */
type Holder = Caller | 'none' | 'bad';

/**
 * Authenticates a connection by a certificate of the cluster's authority. The certificate is read once per connection, and
 * its expiry is compared on every request.
 */
export function certificateAuthenticator(now: () => number): (socket: TLSSocket) => Holder {
  const read = new WeakMap<TLSSocket, PeerCertificate | 'none' | 'bad'>();
  return (socket) => {
    const known =
      read.get(socket) ?? readPeerCertificate(socket) ?? (hasCertificate(socket) ? 'bad' : 'none');
    read.set(socket, known);
    if (typeof known === 'string') return known;
    if (known.commonName === '' || !(now() < known.notAfterMs)) return 'bad';
    return {
      name: known.commonName,
      uid: '',
      groups: withAuthenticated(known.organizations),
      extra: {},
      authenticatedBy: 'certificate',
    };
  };
}

/** Node returns an empty object where there is no certificate. */
function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
}
