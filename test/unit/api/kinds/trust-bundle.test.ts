import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ClusterTrustBundle } from '../../../../src/api/index.ts';
import { clusterTrustBundleKind } from '../../../../src/api/index.ts';
import { createAuthority, formatPem, issuePair, noNames } from '../../../../src/base/x509/index.ts';

const hourMs = 3600_000;
const [one, other] = await Promise.all(
  ['one', 'other'].map((name) => createAuthority(name, hourMs, Date.now())),
);
assert.ok(one && other);

/** An authority whose key is only for signatures of its own: an authority by its basic constraints. */
const limited = `-----BEGIN CERTIFICATE-----
MIIBKDCB26ADAgECAhRzJtsRsKv5yaDbJHEaLAHeIgipdDAFBgMrZXAwFDESMBAG
A1UEAwwJY2Etbm9zaWduMB4XDTI2MTEyMzA5MTA0NVoXDTM2MTEyMDA5MTA0NVow
FDESMBAGA1UEAwwJY2Etbm9zaWduMCowBQYDK2VwAyEAq7c5Zz0aw418wVhOxgpI
OnfNPukblqposQEymD/dXxajPzA9MA8GA1UdEwEB/wQFMAMBAf8wCwYDVR0PBAQD
AgeAMB0GA1UdDgQWBBTO/lmelJ922kcOK651mx5YLXPMTTAFBgMrZXADQQD/YEyp
CG8PBosCC2u7Ygz6cbLlyi66dRVgxlojYlFHzaHXMB3g70IJZOMb+boAI8VGGzI5
aSRx9X1SoNJ6B/IK
-----END CERTIFICATE-----
`;

type Spec = ClusterTrustBundle['spec'];

const bundle = (name: string, spec: Spec): ClusterTrustBundle => ({ metadata: { name }, spec });

function causes(next: ClusterTrustBundle, old?: ClusterTrustBundle): string[] {
  return clusterTrustBundleKind.validate(next, old).map(({ field, message }) => `${field}: ${message}`);
}

const contentCauses = (trustBundle: string) =>
  causes(bundle('b', { trustBundle })).map((cause) =>
    cause.replace('spec.trustBundle: Invalid value: "<value omitted>": ', ''),
  );

describe('a cluster trust bundle', () => {
  test('has certificates of authorities, with words between them', () => {
    assert.deepEqual(contentCauses(one.cert), []);
    assert.deepEqual(contentCauses(`# ours\n${one.cert}\n\ntheirs: yes\n${other.cert}`), []);
    assert.deepEqual(contentCauses(limited), []);
  });

  test('has at least one of them, and none twice', () => {
    const none = ['at least one trust anchor must be provided'];
    for (const empty of ['', 'no certificate', one.cert.slice(0, -10)])
      assert.deepEqual(contentCauses(empty), none);
    assert.deepEqual(contentCauses(one.cert + other.cert + one.cert), [
      'duplicate trust anchor (indices [0 2])',
    ]);
  });

  test('has nothing else', async () => {
    const subject = { commonName: 'leaf', organizations: [] };
    const issue = { subject, names: noNames, use: 'client', lifetimeMs: hourMs, now: Date.now() } as const;
    const leaf = await issuePair(one, issue);
    const { raw } = new X509Certificate(one.cert);
    assert.deepEqual(
      contentCauses(
        [
          one.cert,
          one.key,
          one.cert.replace('\n', '\nName: value\n\n'),
          formatPem('CERTIFICATE', Buffer.from('abc')),
          formatPem('CERTIFICATE', Buffer.concat([raw, Buffer.from([0])])),
          leaf.cert,
          one.cert,
        ].join('\n'),
      ),
      [
        'entry 1 has bad block type: PRIVATE KEY',
        'entry 2 has PEM block headers',
        'entry 3 does not parse as X.509',
        'entry 4 does not parse as X.509',
        'entry 5 does not have the CA bit set',
      ],
    );
  });

  test('has at most a MiB, and is read in a moment', () => {
    const filled = one.cert + ' '.repeat(1024 * 1024 - one.cert.length);
    assert.deepEqual(contentCauses(filled), []);
    assert.deepEqual(contentCauses(`${filled} `), [
      'spec.trustBundle: Too long: may not be more than 1048576 bytes',
    ]);
  });

  test('of a signer has the name of that signer before its own', () => {
    const of = (name: string, signerName?: string) =>
      causes(bundle(name, { trustBundle: one.cert, ...(signerName === undefined ? {} : { signerName }) }));
    assert.deepEqual(of('example.com:foo:v1', 'example.com/foo'), []);
    assert.deepEqual(of('kubernetes.io:legacy-unknown:a', 'kubernetes.io/legacy-unknown'), []);
    assert.deepEqual(of('plain.name'), []);
    const colon = 'ClusterTrustBundle without signer name must not have ":" in its name';
    assert.deepEqual(of('example.com:foo:v1'), [
      `metadata.name: Invalid value: "example.com:foo:v1": ${colon}`,
    ]);
    assert.deepEqual(of('v1', 'example.com/foo'), [
      'metadata.name: Invalid value: "v1": ClusterTrustBundle for signerName example.com/foo must be named with prefix example.com:foo:',
    ]);
    for (const name of ['example.com:foo:', 'example.com:foo:a:b', 'example.com:foo:A'])
      assert.match(of(name, 'example.com/foo').join(), /a lowercase RFC 1123 subdomain must consist of/);
    assert.match(of('Upper').join(), /a lowercase RFC 1123 subdomain must consist of/);
    assert.match(of('foo:v1', 'foo').join(), /of the form 'example.com\/signer-name'/);
  });

  test('keeps its signer; what was stored with older rules can be kept', () => {
    const stored = bundle('b', { trustBundle: 'no certificate any more' });
    assert.deepEqual(causes(stored, stored), []);
    assert.deepEqual(causes(bundle('b', { trustBundle: 'another' }), stored).length, 1);
    const old = bundle('e.com:f:v1', { trustBundle: one.cert, signerName: 'e.com/f' });
    assert.deepEqual(causes(bundle('e.com:f:v1', { trustBundle: one.cert }), old), [
      'metadata.name: Invalid value: "e.com:f:v1": ClusterTrustBundle without signer name must not have ":" in its name',
      'spec.signerName: Invalid value: "": field is immutable',
    ]);
  });

  test('tells its signer in tables and to selectors', () => {
    const cells = (spec: Spec) =>
      clusterTrustBundleKind.columns.map(({ value }) => value(bundle('b', spec), Date.now()));
    assert.deepEqual(cells({ trustBundle: '', signerName: 'e.com/f' }), ['e.com/f']);
    assert.deepEqual(cells({ trustBundle: '' }), ['<none>']);
    const [selectable] = clusterTrustBundleKind.selectable;
    assert.equal(selectable?.value(bundle('b', { trustBundle: '', signerName: 'e.com/f' })), 'e.com/f');
  });
});
