import type { KeyObject, webcrypto } from 'node:crypto';
import { createPrivateKey, createPublicKey, webcrypto as crypto } from 'node:crypto';

/** ECDSA on P-256: small, fast, and read by every TLS library. */
const defaultAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

type SigningAlgorithm =
  | { name: 'ECDSA'; namedCurve: 'P-256' | 'P-384' | 'P-521'; hash: string }
  | { name: 'RSASSA-PKCS1-v1_5'; hash: string };

/** Both halves of a key in the form that the library expects, and how to sign with it. */
export interface KeyPair {
  privateKey: webcrypto.CryptoKey;
  publicKey: webcrypto.CryptoKey;
  algorithm: SigningAlgorithm;
}

/** A new key (EC, P-256) as PKCS #8 PEM. */
export async function generateKeyPem(): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey(defaultAlgorithm, true, ['sign', 'verify']);
  const der = await crypto.subtle.exportKey('pkcs8', privateKey);
  return createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString();
}

/** Reads a PEM key (PKCS #8, SEC 1 or PKCS #1); throws for a key that cannot sign certificates. */
export async function importKeyPair(keyPem: string): Promise<KeyPair> {
  const key = createPrivateKey(keyPem);
  const fault = findKeyFault(key);
  if (fault !== undefined) throw new Error(`the key cannot be used: ${fault}`);
  const algorithm = algorithmOf(key);
  const pkcs8 = key.export({ format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    privateKey: await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
    publicKey: await crypto.subtle.importKey('spki', spki, algorithm, true, ['verify']),
    algorithm,
  };
}

const hashes = { 'P-256': 'SHA-256', 'P-384': 'SHA-384', 'P-521': 'SHA-512' } as const;
const curves = new Map<string, keyof typeof hashes>([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);
const minRsaBits = 2048;
const maxRsaBits = 8192;

/** Returns why a key is not accepted in certificates, or undefined for EC on a NIST curve and RSA of 2048 to 8192 bits. */
export function findKeyFault(key: KeyObject): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ec') {
    const curve = details?.namedCurve ?? '';
    return curves.has(curve) ? undefined : `its curve ${curve} is none of P-256, P-384 and P-521`;
  }
  if (type !== 'rsa') return `it is of type ${type}, neither EC nor RSA`;
  const bits = details?.modulusLength ?? 0;
  if (bits >= minRsaBits && bits <= maxRsaBits) return undefined;
  return `an RSA key of ${bits} bits is not between ${minRsaBits} and ${maxRsaBits}`;
}

function algorithmOf(key: KeyObject): SigningAlgorithm {
  const namedCurve = curves.get(key.asymmetricKeyDetails?.namedCurve ?? '');
  if (namedCurve === undefined) return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  return { name: 'ECDSA', namedCurve, hash: hashes[namedCurve] };
}
