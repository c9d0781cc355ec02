import { randomBytes, X509Certificate } from 'node:crypto';
import type { KeyPair } from './keys.ts';
import { generateKeyPem, importKeyPair } from './keys.ts';
import type { X509Library } from './library.ts';
import { loadX509 } from './library.ts';
import type { ParsedRequest } from './request.ts';
import type { AlternativeNames, Subject } from './subject.ts';
import { nameParts, subjectName } from './subject.ts';

/** A certificate with its key, both PEM. */
export interface Pair {
  cert: string;
  key: string;
}

export type CertificateUse = 'client' | 'server';

/** The content of a certificate to issue. */
export interface Issue {
  subject: Subject;
  names: AlternativeNames;
  use: CertificateUse;
  /** From `now` on; the certificate never outlives the authority. */
  lifetimeMs: number;
  /** Wall clock, milliseconds. */
  now: number;
}

/** Certificates are valid from a while before now, because the clocks of a cluster differ. */
const backdateMs = 5 * 60_000;

/**
 * Creates a self-signed certificate authority (RFC 5280), which may sign leaves but no further authorities. `now` is the
 * wall clock in milliseconds, `keyPem` its key when it has one already.
 */
export async function createAuthority(
  commonName: string,
  lifetimeMs: number,
  now: number,
  keyPem?: string,
): Promise<Pair> {
  const x509 = await loadX509();
  const key = keyPem ?? (await generateKeyPem());
  const keys = await importKeyPair(key);
  const { KeyUsageFlags } = x509;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: subjectName(x509, { commonName, organizations: [] }),
    keys,
    signingAlgorithm: keys.algorithm,
    serialNumber: serialNumber(),
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(now + lifetimeMs),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: pemOf(certificate), key };
}

/** Issues a certificate (PEM) for the key of a request; everything else is from `issue`. */
export async function issueForRequest(
  authority: Pair,
  request: Pick<ParsedRequest, 'publicKey'>,
  issue: Issue,
): Promise<string> {
  return await sign(authority, request.publicKey, issue);
}

/** Issues a certificate with a new key. */
export async function issuePair(authority: Pair, issue: Issue): Promise<Pair> {
  const key = await generateKeyPem();
  const { publicKey } = await importKeyPair(key);
  return { cert: await sign(authority, publicKey, issue), key };
}

async function sign(
  authority: Pair,
  publicKey: KeyPair['publicKey'] | Uint8Array<ArrayBuffer>,
  issue: Issue,
): Promise<string> {
  const x509 = await loadX509();
  const { ExtendedKeyUsage } = x509;
  const issuer = new x509.X509Certificate(authority.cert);
  const signer = await importKeyPair(authority.key);
  const names = nameParts(issue.names);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subjectName(x509, issue.subject),
    issuer: issuer.subjectName, // in the authority's own encoding: verifiers compare bytes
    publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: signer.algorithm,
    serialNumber: serialNumber(),
    ...validityOf(issue, authority.cert),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        issue.use === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth,
      ]),
      await authorityKeyIdentifier(x509, issuer, signer),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  });
  return pemOf(certificate);
}

/** With a line break at the end, so that PEM blocks can be concatenated. */
function pemOf(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem').trim()}\n`;
}

function validityOf({ now, lifetimeMs }: Issue, authorityPem: string): { notBefore: Date; notAfter: Date } {
  const issuer = new X509Certificate(authorityPem);
  const [first, last] = [Date.parse(issuer.validFrom), Date.parse(issuer.validTo)];
  return {
    notBefore: new Date(Math.max(now - backdateMs, first)),
    notAfter: new Date(Math.min(now + lifetimeMs, last)),
  };
}

/** The authority's own identifier of its key, which need not be the hash that we would compute. */
async function authorityKeyIdentifier(
  x509: X509Library,
  issuer: InstanceType<X509Library['X509Certificate']>,
  signer: KeyPair,
) {
  const own = issuer.getExtension(x509.SubjectKeyIdentifierExtension);
  return own === null
    ? await x509.AuthorityKeyIdentifierExtension.create(signer.publicKey)
    : new x509.AuthorityKeyIdentifierExtension(own.keyId);
}

/** 16 random bytes as hexadecimal, with the first bits 01: positive and never shortened (RFC 5280, 4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}
