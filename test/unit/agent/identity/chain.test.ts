import 'reflect-metadata'; // first: the next one looks for it while it loads
import assert from 'node:assert/strict';
import type { webcrypto } from 'node:crypto';
import { test } from 'node:test';
import { BasicConstraintsExtension, X509CertificateGenerator } from '@peculiar/x509';
import { findChainFault } from '../../../../src/agent/identity/chain.ts';
import { createTestAuthority } from './pki.ts';

const fault = 'it was issued by another authority';

test('a certificate of the authority, of one of several, of another', async () => {
  const [one, two] = [await createTestAuthority('one'), await createTestAuthority('two')];
  const { cert } = await one.issue('leaf', [], 'server');
  assert.equal(findChainFault(cert, one.ca), undefined);
  assert.equal(findChainFault(cert, two.ca + one.ca), undefined);
  assert.equal(findChainFault(cert, two.ca), fault);
  assert.equal(findChainFault(cert, ''), fault);
  assert.equal(findChainFault('', one.ca), fault);
});

test('an authority of the same name and another key is another', async () => {
  const [one, two] = [await createTestAuthority('same'), await createTestAuthority('same')];
  const { cert } = await one.issue('leaf', [], 'server');
  assert.equal(findChainFault(cert, two.ca), fault);
});

test('intermediates lead to the authority, when they are authorities', async () => {
  const root = await link('root', true);
  const middle = await link('middle', true, root);
  const leaf = await link('leaf', false, middle);
  const below = await link('below', false, leaf);
  assert.equal(findChainFault(leaf.pem + middle.pem, root.pem), undefined);
  assert.equal(findChainFault(middle.pem, root.pem), undefined);
  assert.equal(findChainFault(leaf.pem, root.pem), fault);
  assert.equal(findChainFault(below.pem + leaf.pem + middle.pem, root.pem), fault);
});

interface Link {
  name: string;
  pem: string;
  keys: webcrypto.CryptoKeyPair;
}

/** A certificate in a chain; the first one signs itself. */
async function link(name: string, ca: boolean, by?: Link): Promise<Link> {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: `CN=${by?.name ?? name}`,
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [new BasicConstraintsExtension(ca, undefined, true)],
  });
  return { name, pem: `${certificate.toString('pem')}\n`, keys };
}
