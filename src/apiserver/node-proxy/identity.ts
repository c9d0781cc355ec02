import type { PeerCertificate } from 'node:tls';
import { checkServerIdentity } from 'node:tls';

/**
 * Checks that a certificate of the cluster's authority is the serving certificate of this node: it contains the node's name,
 * and its subject is the one that the signer gives only to this node. Certificates of other nodes and of the control plane
 * are refused at any address.
 */
export function checkNodeIdentity(node: string, certificate: PeerCertificate): Error | undefined {
  const wrongName = checkServerIdentity(node, certificate);
  if (wrongName !== undefined) return wrongName;
  const { CN, O } = certificate.subject;
  if (CN === `system:node:${node}` && O === 'system:nodes') return undefined;
  return Object.assign(new Error(`its certificate is that of ${CN}, not of node ${node}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
}
