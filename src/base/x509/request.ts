import { createPublicKey } from 'node:crypto';
import { findKeyFault, importKeyPair } from './keys.ts';
import type { X509Library } from './library.ts';
import { loadX509 } from './library.ts';
import type { AlternativeNames, Subject } from './subject.ts';
import { nameParts, subjectName, toCanonicalName } from './subject.ts';

/** What a certificate signing request (RFC 2986) asks for, its signature verified. */
export interface ParsedRequest {
  subject: Subject;
  /** In canonical form. */
  names: AlternativeNames;
  /**
   * What else it asks for: further parts of the subject, other types of names, the rights of an authority. A signer should
   * refuse a request that has any.
   */
  others: readonly string[];
  /** Extended key usages that it asks for, as OIDs; usually none. */
  extendedKeyUsages: readonly string[];
  /** SubjectPublicKeyInfo, DER. */
  publicKey: Uint8Array<ArrayBuffer>;
}

/** A request that cannot be read, whose key is too weak, or whose signature is not by its key. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
}

/** Creates a request, PEM. */
export async function createRequest(
  keyPem: string,
  subject: Subject,
  names: AlternativeNames,
): Promise<string> {
  const x509 = await loadX509();
  const parts = nameParts(names);
  const keys = await importKeyPair(keyPem);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subjectName(x509, subject),
    keys,
    signingAlgorithm: keys.algorithm,
    extensions: parts.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(parts)],
  });
  return `${request.toString('pem').trim()}\n`;
}

/** Reads a request and verifies its signature; throws RequestError. */
export async function readRequest(csrPem: string): Promise<ParsedRequest> {
  const der = decodeRequestPem(csrPem);
  const x509 = await loadX509();
  try {
    const request = new x509.Pkcs10CertificateRequest(der);
    const publicKey = await verifyKey(request);
    return { publicKey, ...subjectOf(x509, request) };
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError('the certificate signing request cannot be read', { cause: error });
  }
}

type Request = InstanceType<X509Library['Pkcs10CertificateRequest']>;

const maxChars = 64 * 1024;
const block =
  /^-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/;

/** Decodes exactly one PEM block with nothing around it, so that no other parser finds another request. Throws RequestError. */
export function decodeRequestPem(csrPem: string): Uint8Array<ArrayBuffer> {
  if (csrPem.length > maxChars) {
    throw new RequestError(`the certificate signing request is longer than ${maxChars} characters`);
  }
  const content = block.exec(csrPem.trim())?.[1];
  if (content === undefined) throw new RequestError('this is no certificate signing request in PEM');
  return new Uint8Array(Buffer.from(content, 'base64'));
}

async function verifyKey(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const spki = new Uint8Array(request.publicKey.rawData);
  const fault = findKeyFault(createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }));
  if (fault !== undefined) throw new RequestError(`the key of the request is not accepted: ${fault}`);
  if (!(await request.verify())) throw new RequestError('the signature of the request is not by its key');
  return spki;
}

/** The OIDs of RFC 5280, 4.2.1.6, 4.2.1.9 and 4.2.1.12. */
const subjectAltName = '2.5.29.17';
const basicConstraints = '2.5.29.19';
const extendedKeyUsage = '2.5.29.37';

function subjectOf(x509: X509Library, request: Request): Omit<ParsedRequest, 'publicKey'> {
  const commonNames: string[] = [];
  const organizations: string[] = [];
  const others: string[] = [];
  for (const [type, values] of request.subjectName.toJSON().flatMap((part) => Object.entries(part))) {
    const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
    if (type === 'CN') commonNames.push(...texts);
    else if (type === 'O') organizations.push(...texts);
    else others.push(`${type} in the subject`);
  }
  if (commonNames.length > 1) others.push('several common names');
  const extensions = extensionsOf(x509, request);
  return {
    subject: { commonName: commonNames[0] ?? '', organizations },
    names: extensions.names,
    others: [...others, ...extensions.others],
    extendedKeyUsages: extensions.extendedKeyUsages,
  };
}

function extensionsOf(x509: X509Library, request: Request) {
  const names = { dnsNames: [] as string[], ipAddresses: [] as string[] };
  const others: string[] = [];
  const extendedKeyUsages: string[] = [];
  for (const extension of allExtensions(x509, request)) {
    if (extension instanceof x509.SubjectAlternativeNameExtension) {
      for (const { type, value } of extension.names.items) {
        if (type === 'dns') names.dnsNames.push(toCanonicalName(value));
        else if (type === 'ip') names.ipAddresses.push(toCanonicalName(value));
        else others.push(`a name of type ${type}`);
      }
    } else if (extension instanceof x509.BasicConstraintsExtension) {
      if (extension.ca) others.push('the rights of a certificate authority');
    } else if (extension instanceof x509.ExtendedKeyUsageExtension) {
      extendedKeyUsages.push(...extension.usages.map(String));
    } else if ([subjectAltName, basicConstraints, extendedKeyUsage].includes(extension.type)) {
      others.push(`an extension ${extension.type} that cannot be read`);
    }
  }
  return { names, others, extendedKeyUsages };
}

/** The extensions of every attribute that has some: there should be one, but a second must not be missed. */
function allExtensions(x509: X509Library, request: Request) {
  return request.attributes.flatMap((attribute) =>
    attribute instanceof x509.ExtensionsAttribute ? attribute.items : [],
  );
}
