import type { TLSSocket } from 'node:tls';
import type { PeerCertificate } from '../../../base/index.ts';
import { readPeerCertificate } from '../../../base/index.ts';
import { withAuthenticated } from './groups.ts';
import type { Caller } from './types.ts';

/** `none`: the connection shows no certificate; `bad`: one that does not say who somebody is, or no longer. */
type Holder = Caller | 'none' | 'bad';

/**
 * Who is behind a connection: the holder of a certificate of the cluster's authority. The certificate is read once per
 * connection and its end compared on every request.
 */
export function certificateAuthenticator(now: () => number): (socket: TLSSocket) => Holder {
  const read = new WeakMap<TLSSocket, PeerCertificate | 'none' | 'bad'>();
  return (socket) => {
    const known = read.get(socket) ?? readPeerCertificate(socket) ?? (showsOne(socket) ? 'bad' : 'none');
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

/** Node answers an empty object where there is none. */
function showsOne(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
}
