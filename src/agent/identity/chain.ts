import { X509Certificate } from 'node:crypto';

/**
 * Why a certificate (PEM, intermediates behind it) leads to none of the authorities in `caPem` (PEM, one or several), or
 * undefined when it does. Whether the certificates are still valid is not looked at.
 */
export function chainFault(certPem: string, caPem: string): string | undefined {
  const [leaf, ...between] = certificatesIn(certPem);
  const authorities = certificatesIn(caPem);
  let here = leaf;
  for (let depth = 0; here !== undefined && depth <= between.length; depth += 1) {
    const issued = here;
    if (authorities.some((authority) => isIssuedBy(issued, authority))) return undefined;
    here = between.find((candidate) => candidate.ca && isIssuedBy(issued, candidate));
  }
  return 'it was issued by another authority';
}

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

function certificatesIn(pem: string): X509Certificate[] {
  return [...pem.matchAll(block)].map(([text]) => new X509Certificate(text));
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
