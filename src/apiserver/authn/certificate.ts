import type { TLSSocket } from 'node:tls';
import { readPeerCertificate } from '../../base/index.ts';
import type { Authenticator, Identity } from './authenticator.ts';
import { authenticatedGroup } from './user.ts';

/**
 * Client certificates signed by the cluster's CA: the common name is the user, the organizations are the groups.
 * A connection's certificate is read once; its end is compared on every request, so that keep-alive outlives no
 * credential.
 */
export function certificateAuthenticator(now: () => number): Authenticator {
  const known = new WeakMap<TLSSocket, Identity | 'nobody'>();
  return {
    authenticate({ socket }) {
      const identity = known.get(socket) ?? identityOf(socket);
      known.set(socket, identity);
      return identity === 'nobody' || now() >= identity.untilMs ? undefined : identity;
    },
  };
}

function identityOf(socket: TLSSocket): Identity | 'nobody' {
  if (socket.destroyed) return 'nobody'; // its certificate is gone with it
  const certificate = readPeerCertificate(socket);
  if (certificate === undefined || certificate.commonName === '') return 'nobody';
  const groups = [...new Set([...certificate.organizations, authenticatedGroup])];
  return { user: { name: certificate.commonName, groups, extra: {} }, untilMs: certificate.notAfterMs };
}
