import { createHash, X509Certificate } from 'node:crypto';

/** `sha256:HEX` of an authority's public key, as in kubeadm's --discovery-token-ca-cert-hash. Takes PEM or DER. */
export function hashAuthority(authority: string | Buffer): string {
  const spki = new X509Certificate(authority).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}
