import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';
import type { Pair } from '../../base/x509/index.ts';
import {
  bits,
  booleanTrue,
  contextTagged,
  integer,
  octets,
  oid,
  sequence,
  setOf,
  tagged,
  text,
  time,
} from './der.ts';

/** The subject of a certificate (RFC 5280). */
interface Subject {
  commonName: string;
  organizations?: readonly string[];
}

type Use = 'client' | { serverNames: readonly string[]; serverAddress: string };

interface Content {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  issuerKey: KeyObject;
  extensions: readonly Buffer[];
}

/** Covers every time to which the clock of a test may be set; TLS uses the real time. */
const validity = sequence(time(Date.UTC(2000, 0, 1)), time(Date.UTC(2100, 0, 1)));
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));

/** A new EC key on P-256, PKCS #8 PEM. */
export function newKeyPem(): string {
  return pemOf(newKey());
}

/** A self-signed authority. */
export function makeAuthority(subject: Subject): Pair {
  const key = newKey();
  const name = nameOf(subject);
  const isAuthority = sequence(booleanTrue, integer(0));
  const mayUse = bits(Buffer.from([0b1000_0110]), 1); // digital signature, certificates, revocation lists
  const extensions = [critical('2.5.29.19', isAuthority), critical('2.5.29.15', mayUse)];
  const publicKey = createPublicKey(key);
  return {
    cert: encodeSigned({ subject: name, issuer: name, publicKey, issuerKey: key, extensions }),
    key: pemOf(key),
  };
}

/** A certificate of an authority that `makeAuthority` made for `issuer`, with a key of its own. */
export function makeLeaf(authority: Pair, issuer: Subject, subject: Subject, use: Use): Pair {
  const key = newKey();
  const digitalSignature = bits(Buffer.from([0b1000_0000]), 7);
  const purpose = use === 'client' ? '1.3.6.1.5.5.7.3.2' : '1.3.6.1.5.5.7.3.1';
  const extensions = [
    critical('2.5.29.19', sequence()),
    critical('2.5.29.15', digitalSignature),
    extension('2.5.29.37', sequence(oid(purpose))),
    ...(use === 'client' ? [] : [extension('2.5.29.17', alternativeNames(use))]),
  ];
  const cert = encodeSigned({
    subject: nameOf(subject),
    issuer: nameOf(issuer),
    publicKey: createPublicKey(key),
    issuerKey: createPrivateKey(authority.key),
    extensions,
  });
  return { cert, key: pemOf(key) };
}

function encodeSigned({ subject, issuer, publicKey, issuerKey, extensions }: Content): string {
  const serial = randomBytes(16);
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f); // positive, and always 16 bytes
  const issuerId = tagged(0x80, keyId(createPublicKey(issuerKey)));
  const identifiers = [
    extension('2.5.29.14', octets(keyId(publicKey))),
    extension('2.5.29.35', sequence(issuerId)),
  ];
  const content = sequence(
    contextTagged(0, integer(2)), // version 3
    integer(...serial),
    ecdsaWithSha256,
    issuer,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    contextTagged(3, sequence(...extensions, ...identifiers)),
  );
  const signature = bits(sign('sha256', content, issuerKey));
  const base64 = sequence(content, ecdsaWithSha256, signature).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function nameOf({ commonName, organizations = [] }: Subject): Buffer {
  const part = (type: string, value: string) => setOf(sequence(oid(type), text(value)));
  return sequence(...organizations.map((each) => part('2.5.4.10', each)), part('2.5.4.3', commonName));
}

function alternativeNames({ serverNames, serverAddress }: Exclude<Use, 'client'>): Buffer {
  const names = serverNames.map((name) => tagged(0x82, Buffer.from(name)));
  return sequence(...names, tagged(0x87, Buffer.from(serverAddress.split('.').map(Number))));
}

const extension = (id: string, value: Uint8Array) => sequence(oid(id), octets(value));
const critical = (id: string, value: Uint8Array) => sequence(oid(id), booleanTrue, octets(value));

/** Identifies a key in chains; any digest may be used (RFC 5280, 4.2.1.2). */
function keyId(key: KeyObject): Buffer {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'buffer').subarray(0, 20);
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
