import { X509Certificate } from 'node:crypto';

/**
 * Returns why a certificate (PEM, followed by its intermediates) chains to none of the authorities in `caPem` (PEM, one or
 * several), or undefined when it does. Does not check whether the certificates are still valid.
 */
export function findChainFault(certPem: string, caPem: string): string | undefined {
  const [leaf, ...intermediates] = parseCertificates(certPem);
  const authorities = parseCertificates(caPem);
  let current = leaf;
  for (let depth = 0; current !== undefined && depth <= intermediates.length; depth += 1) {
    const issued = current;
    if (authorities.some((authority) => isIssuedBy(issued, authority))) return undefined;
    current = intermediates.find((candidate) => candidate.ca && isIssuedBy(issued, candidate));
  }
  return 'it was issued by another authority';
}

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

function parseCertificates(pem: string): X509Certificate[] {
  return [...pem.matchAll(block)].map(([text]) => new X509Certificate(text));
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
