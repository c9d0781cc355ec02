import type { KeyObject } from 'node:crypto';
import { createPublicKey, generateKeyPairSync, webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

export interface SpecialRequest {
  key?: KeyObject;
  subject?: Record<string, string[]>[];
  names?: { type: 'dns' | 'ip' | 'email' | 'url'; value: string }[];
  /** In a second attribute of its own. */
  moreNames?: { type: 'dns' | 'ip' | 'email' | 'url'; value: string }[];
  authority?: boolean;
  /** OIDs. */
  usages?: string[];
}

/** A request as no honest client would make it, well signed, PEM. */
export async function specialRequest(wanted: SpecialRequest): Promise<string> {
  const key = wanted.key ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const algorithm =
    key.asymmetricKeyType === 'rsa'
      ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
      : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const { subtle } = webcrypto;
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const pkcs8 = key.export({ format: 'der', type: 'pkcs8' });
  const extensions: x509.Extension[] = [];
  if (wanted.names) extensions.push(new x509.SubjectAlternativeNameExtension(wanted.names));
  if (wanted.authority) extensions.push(new x509.BasicConstraintsExtension(true, undefined, true));
  if (wanted.usages) extensions.push(new x509.ExtendedKeyUsageExtension(wanted.usages));
  const more = wanted.moreNames && new x509.SubjectAlternativeNameExtension(wanted.moreNames);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: wanted.subject ?? [{ O: ['system:nodes'] }, { CN: ['system:node:a'] }],
    keys: {
      privateKey: await subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
      publicKey: await subtle.importKey('spki', spki, algorithm, true, ['verify']),
    },
    signingAlgorithm: algorithm,
    extensions,
    attributes: more ? [new x509.ExtensionsAttribute([more])] : [],
  });
  return request.toString('pem');
}
