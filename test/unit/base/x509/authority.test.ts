import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Issue, Pair } from '../../../../src/base/x509/index.ts';
import {
  alternativeNames,
  createAuthority,
  createRequest,
  findFault,
  generateKeyPem,
  issueForRequest,
  issuePair,
  noNames,
  readRequest,
  validity,
} from '../../../../src/base/x509/index.ts';

const now = Date.UTC(2026, 0, 15, 12);
const dayMs = 24 * 3600_000;
const minuteMs = 60_000;

const forNode: Issue = {
  subject: { commonName: 'system:node:a', organizations: ['system:nodes'] },
  names: noNames,
  use: 'client',
  lifetimeMs: dayMs,
  now,
};

function bySha(authority: Pair): X509Certificate {
  return new X509Certificate(authority.cert);
}

describe('an authority', () => {
  test('signs itself, may sign others, and is valid from a little while ago', async () => {
    const authority = await createAuthority('test-ca', 10 * dayMs, now);
    const certificate = bySha(authority);
    assert.equal(certificate.subject, 'CN=test-ca');
    assert.equal(certificate.ca, true);
    assert.ok(certificate.verify(certificate.publicKey));
    assert.equal(findFault(authority, { authority: authority.cert, use: 'authority', now }), undefined);
    assert.deepEqual(validity(authority.cert), {
      notBeforeMs: now - 5 * minuteMs,
      notAfterMs: now + 10 * dayMs,
    });
    assert.match(authority.key, /^-----BEGIN PRIVATE KEY-----/);
  });

  test('can be made for a key that is there already', async () => {
    const key = await generateKeyPem();
    const authority = await createAuthority('test-ca', dayMs, now, key);
    assert.equal(authority.key, key);
    assert.equal(findFault(authority, { authority: authority.cert, now }), undefined);
  });

  test('serial numbers are positive, of 16 bytes, and never the same', async () => {
    const authority = await createAuthority('test-ca', dayMs, now);
    const serials = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const { cert } = await issuePair(authority, forNode);
      serials.add(new X509Certificate(cert).serialNumber);
    }
    assert.equal(serials.size, 20);
    for (const serial of serials) assert.match(serial, /^[4-7][0-9A-F]{31}$/);
  });

  for (const [what, keyPem] of [
    ['EC P-384', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
    ['RSA 2048', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
  ] as const) {
    test(`may have a key of type ${what}, in an older form of PEM`, async () => {
      const type = what.startsWith('EC') ? 'sec1' : 'pkcs1';
      const key = keyPem.export({ format: 'pem', type }).toString();
      const authority = await createAuthority('test-ca', dayMs, now, key);
      const pair = await issuePair(authority, forNode);
      assert.equal(findFault(pair, { authority: authority.cert, use: 'client', now }), undefined);
    });
  }

  test('refuses keys that are too weak or of another kind', async () => {
    for (const { privateKey } of [
      generateKeyPairSync('rsa', { modulusLength: 1024 }),
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
      generateKeyPairSync('ed25519'),
    ]) {
      const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
      await assert.rejects(createAuthority('test-ca', dayMs, now, key), /the key cannot be used/);
    }
  });
});

describe('an issued certificate', () => {
  test('says what was asked for and nothing else', async () => {
    const authority = await createAuthority('test-ca', 10 * dayMs, now);
    const names = alternativeNames(['localhost', 'node-a.example', '10.0.0.1', 'fd00::1']);
    const { cert } = await issuePair(authority, { ...forNode, names, use: 'server' });
    const certificate = new X509Certificate(cert);
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:a');
    assert.equal(certificate.issuer, 'CN=test-ca');
    assert.equal(certificate.ca, false);
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.equal(
      certificate.subjectAltName,
      'DNS:localhost, DNS:node-a.example, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1',
    );
    assert.ok(certificate.checkIssued(bySha(authority)));
  });

  test('never outlives its authority, nor is it older', async () => {
    const authority = await createAuthority('test-ca', dayMs, now);
    const { cert } = await issuePair(authority, { ...forNode, lifetimeMs: 100 * dayMs });
    assert.deepEqual(validity(cert), validity(authority.cert));
  });

  test('names its issuer byte for byte, whatever letters are in it', async () => {
    const authority = await createAuthority('Bäckerei & Söhne_ca', dayMs, now);
    const { cert } = await issuePair(authority, forNode);
    assert.ok(new X509Certificate(cert).checkIssued(bySha(authority)));
    assert.equal(nameBytes(cert, 'issuer'), nameBytes(authority.cert, 'subject'));
  });
});

/** The name as it is encoded: Go's verifiers compare the bytes. */
function nameBytes(certPem: string, which: 'issuer' | 'subject'): string {
  const der = new X509Certificate(certPem).raw.toString('hex');
  const name = Buffer.from('Bäckerei & Söhne_ca').toString('hex');
  const first = der.indexOf(name);
  const at = which === 'issuer' ? first : der.indexOf(name, first + 1);
  return der.slice(at - 26, at + name.length);
}

describe('findFault', async () => {
  const authority = await createAuthority('test-ca', 100 * dayMs, now);
  const other = await createAuthority('test-ca', 100 * dayMs, now);
  const names = alternativeNames(['node-a', '10.0.0.1']);
  const pair = await issuePair(authority, { ...forNode, names, use: 'server', lifetimeMs: 10 * dayMs });
  const expected = {
    authority: authority.cert,
    use: 'server',
    subject: forNode.subject,
    names,
    now,
  } as const;
  const lines = pair.cert.split('\n');
  const cases: [string, Pair, Partial<Parameters<typeof findFault>[1]>, RegExp | undefined][] = [
    ['a good one', pair, {}, undefined],
    ['expired', pair, { now: now + 10 * dayMs }, /^it expired at 2026-01-25T12:00:00.000Z$/],
    ['from the future', pair, { now: now - dayMs }, /^it is valid only from/],
    ['near its end', pair, { now: now + 7 * dayMs, minLeft: 1 / 3 }, /^it expires soon/],
    ['not yet near its end', pair, { now: now + 6 * dayMs, minLeft: 1 / 3 }, undefined],
    ['of another authority of the same name', pair, { authority: other.cert }, /another authority/],
    ['for another use', pair, { use: 'client' }, /not meant for a client/],
    ['no authority', pair, { use: 'authority' }, /no certificate authority/],
    ['for somebody else', pair, { subject: { commonName: 'x', organizations: [] } }, /somebody else/],
    ['more groups', pair, { subject: { ...forNode.subject, organizations: [] } }, /somebody else/],
    ['too few names', pair, { names: alternativeNames(['node-a', '::1']) }, /does not cover ::1$/],
    ['with the key of another', { ...pair, key: other.key }, {}, /key belongs to another/],
    ['without its key', { ...pair, key: '' }, {}, /^the key is missing or empty$/],
    ['without certificate', { ...pair, cert: '\n' }, {}, /^the certificate is missing or empty$/],
    ['cut off', { ...pair, cert: lines.slice(0, 4).join('\n') }, {}, /^it cannot be read/],
    ['no PEM', { cert: 'hello', key: 'hello' }, {}, /^it cannot be read/],
  ];
  for (const [what, given, changed, fault] of cases) {
    test(what, () => {
      const found = findFault(given, { ...expected, ...changed });
      if (fault === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', fault);
    });
  }

  test('never throws, whatever stands in the files', () => {
    fc.assert(
      fc.property(fc.nat(pair.cert.length - 1), fc.nat(255), (at, code) => {
        const cert = pair.cert.slice(0, at) + String.fromCharCode(code) + pair.cert.slice(at + 1);
        findFault({ ...pair, cert }, expected);
      }),
      { numRuns: 300 },
    );
  });
});

test('a certificate is issued for the key of a request', async () => {
  const authority = await createAuthority('test-ca', dayMs, now);
  const key = await generateKeyPem();
  const request = await readRequest(await createRequest(key, forNode.subject, noNames));
  const cert = await issueForRequest(authority, request, forNode);
  assert.equal(findFault({ cert, key }, { authority: authority.cert, use: 'client', now }), undefined);
});
