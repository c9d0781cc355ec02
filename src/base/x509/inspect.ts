import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describeError } from '../errors.ts';
import type { CertificateUse, Pair } from './authority.ts';
import type { AlternativeNames, Subject } from './subject.ts';

/** Requirements for a certificate with its key. What is left out is not checked. */
export interface Expected {
  /** PEM of the authority that must have issued it; the certificate itself for a self-signed one. */
  authority?: string;
  /** `authority`: it must be one. */
  use?: CertificateUse | 'authority';
  subject?: Subject;
  /** Names for which it must be valid. */
  names?: AlternativeNames;
  /** The share of its whole lifetime that must be left, 0 to 1; default 0. */
  minLeft?: number;
  /** Wall clock, milliseconds. */
  now: number;
}

/** Returns why a certificate with its key does not meet the requirements, or undefined; needs node:crypto alone. */
export function findFault(pair: Pair, expected: Expected): string | undefined {
  if (pair.cert.trim() === '') return 'the certificate is missing or empty';
  if (pair.key.trim() === '') return 'the key is missing or empty';
  try {
    const certificate = new X509Certificate(pair.cert);
    if (!certificate.checkPrivateKey(createPrivateKey(pair.key)))
      return 'the key belongs to another certificate';
    return (
      lifetimeFault(certificate, expected) ??
      issuerFault(certificate, expected.authority) ??
      useFault(certificate, expected.use) ??
      subjectFault(certificate, expected.subject) ??
      namesFault(certificate, expected.names)
    );
  } catch (error) {
    return `it cannot be read: ${describeError(error)}`;
  }
}

/** First and last moment of validity, wall clock in milliseconds. Throws where `certPem` is no certificate. */
export function validity(certPem: string): { notBeforeMs: number; notAfterMs: number } {
  const { validFrom, validTo } = new X509Certificate(certPem);
  return { notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
}

function lifetimeFault(certificate: X509Certificate, { now, minLeft = 0 }: Expected): string | undefined {
  const from = Date.parse(certificate.validFrom);
  const to = Date.parse(certificate.validTo);
  if (now < from) return `it is valid only from ${new Date(from).toISOString()} on`;
  if (now >= to) return `it expired at ${new Date(to).toISOString()}`;
  return (to - now) / (to - from) < minLeft ? `it expires soon, at ${new Date(to).toISOString()}` : undefined;
}

function issuerFault(certificate: X509Certificate, authority: string | undefined): string | undefined {
  if (authority === undefined) return undefined;
  const issuer = new X509Certificate(authority);
  const issued = certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  return issued ? undefined : 'it was issued by another authority';
}

/** RFC 5280, 4.2.1.12. */
const usageOids = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

function useFault(certificate: X509Certificate, use: Expected['use']): string | undefined {
  if (use === undefined) return undefined;
  if (use === 'authority') return certificate.ca ? undefined : 'it is no certificate authority';
  // contrary to its types, node:crypto returns undefined where a certificate names no usage
  const usages: readonly string[] | undefined = certificate.keyUsage;
  return usages?.includes(usageOids[use]) ? undefined : `it is not meant for a ${use}`;
}

function subjectFault(certificate: X509Certificate, subject: Subject | undefined): string | undefined {
  if (subject === undefined) return undefined;
  const { CN, O } = certificate.toLegacyObject().subject;
  const organizations = O === undefined ? [] : [O].flat();
  const same = CN === subject.commonName && organizations.join('\n') === subject.organizations.join('\n');
  return same ? undefined : 'it is for somebody else';
}

function namesFault(certificate: X509Certificate, names: AlternativeNames | undefined): string | undefined {
  const missing = [
    ...(names?.dnsNames ?? []).filter(
      (name) => certificate.checkHost(name, { subject: 'never' }) === undefined,
    ),
    ...(names?.ipAddresses ?? []).filter((address) => certificate.checkIP(address) === undefined),
  ];
  return missing.length === 0 ? undefined : `it does not cover ${missing.join(', ')}`;
}
