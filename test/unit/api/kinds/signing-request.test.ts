import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CertificateSigningRequest } from '../../../../src/api/index.ts';
import { certificateSigningRequestKind } from '../../../../src/api/index.ts';
import { createAuthority } from '../../../../src/base/x509/index.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';

const pem = '-----BEGIN CERTIFICATE REQUEST-----\nQQ==\n-----END CERTIFICATE REQUEST-----\n';
const spec: CertificateSigningRequest['spec'] = {
  request: Buffer.from(pem).toString('base64'),
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
};
const causes = (change: Partial<typeof spec>) =>
  certificateSigningRequestKind
    .validate({ spec: { ...spec, ...change } }, undefined)
    .map(({ field, message }) => `${field}: ${message}`);

describe('a certificate signing request', () => {
  test('as the node agent makes it is in order', () => {
    assert.deepEqual(causes({}), []);
    assert.deepEqual(causes({ expirationSeconds: 600 }), []);
  });

  test('needs a PEM request, a signer of a domain, and a lifetime of ten minutes', () => {
    assert.deepEqual(causes({ request: 'QQ==' }), [
      'spec.request: Invalid value: PEM block type must be CERTIFICATE REQUEST',
    ]);
    const formless = ['kubelet', 'example.com/', 'a.b/c/d', '/'];
    for (const signerName of formless) {
      assert.match(
        causes({ signerName }).join(),
        /^spec.signerName: .* of the form 'example.com\/signer-name'$/,
        signerName,
      );
    }
    const wrong: Record<string, RegExp> = {
      '': /Required value$/,
      '/x': /validating label "": .*should be a domain/,
      'a/b': /should be a domain with at least two segments separated by dots$/,
      'A.b/c': /validating label "A": a lowercase RFC 1123 label/,
      'a.b/C': /validating label "C": a lowercase RFC 1123 subdomain/,
      [`a.b/${'c'.repeat(600)}`]: /Too long: may not be more than 571 bytes$/,
      'kubernetes.io/legacy-unknown': /the legacy signerName is not allowed/,
    };
    for (const [signerName, message] of Object.entries(wrong)) {
      assert.match(causes({ signerName }).join(), message, signerName);
    }
    assert.match(causes({ expirationSeconds: 599 })[0] ?? '', /^spec.expirationSeconds: Invalid value: 599/);
  });

  test('names the usages it wants, each once', () => {
    assert.deepEqual(causes({ usages: [] }), ['spec.usages: Required value']);
    assert.match(
      causes({ usages: ['any', 'magic'] })[0] ?? '',
      /^spec.usages\[1\]: Unsupported value: "magic"/,
    );
    assert.deepEqual(causes({ usages: ['any', 'any'] }), ['spec.usages[1]: Duplicate value: "any"']);
  });

  test('brings no answer along, and keeps what it asked for', () => {
    const { prepare } = certificateSigningRequestKind;
    assert.deepEqual(prepare({ spec, status: { certificate: 'QQ==' } }, undefined), { spec });
    const changed = { spec: { ...spec, signerName: 'example.com/mighty' } };
    assert.deepEqual(prepare(changed, { spec }).spec, spec);
  });
});

describe('the answer to a certificate signing request', () => {
  const approved = { type: 'Approved', status: 'True' };
  const denied = { type: 'Denied', status: 'True' };
  const failed = { type: 'Failed', status: 'True' };
  type Status = NonNullable<CertificateSigningRequest['status']>;
  const causesOf = (status: Status, old?: Status) =>
    certificateSigningRequestKind
      .validate({ spec, status }, old && { spec, status: old })
      .map(({ field, message }) => `${field}: ${message}`);

  test('approves or denies, for good', () => {
    assert.deepEqual(causesOf({ conditions: [approved, failed] }), []);
    assert.deepEqual(causesOf({ conditions: [approved, denied] }), [
      'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    assert.deepEqual(causesOf({ conditions: [denied] }, { conditions: [approved, failed] }), [
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
      'status.conditions: Forbidden: updates may not remove a condition of type "Failed"',
    ]);
  });

  test('says each thing once, and True where there is nothing else to say', () => {
    assert.deepEqual(causesOf({ conditions: [{ type: 'Custom', status: 'Unknown' }] }), []);
    assert.deepEqual(
      causesOf({
        conditions: [{ type: 'Approved', status: 'False' }, failed, failed, { type: '', status: '' }],
      }),
      [
        'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
        'status.conditions[2].type: Duplicate value: "Failed"',
        'status.conditions[3].type: Required value',
        'status.conditions[3].status: Required value',
      ],
    );
  });

  test('holds certificates, which stay', async () => {
    const authority = await createAuthority('nodeward-ca', 3600_000, Date.now());
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const certificate = base64(`# a chain\n${authority.cert}\n${authority.cert}`);
    assert.deepEqual(causesOf({ certificate }), []);
    assert.deepEqual(causesOf({ certificate }, { certificate }), []);
    assert.deepEqual(causesOf({ certificate: base64(authority.cert) }, { certificate }), [
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
    assert.equal(causesOf({}, { certificate }).length, 1, 'nor does it go');
    const wrong: [string, RegExp][] = [
      ['no PEM', /must contain at least one CERTIFICATE PEM block$/],
      [authority.key, /only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"$/],
      ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', /that cannot be read$/],
      [authority.cert.repeat(65), /at most 64/],
    ];
    for (const [text, message] of wrong)
      assert.match(causesOf({ certificate: base64(text) }).join(), message);
  });

  test('of a hundred thousand conditions and usages is looked at in a moment', () => {
    const conditions = Array.from({ length: 100_000 }, (_, index) => ({ type: `T${index}`, status: 'True' }));
    const usages = [...conditions.map(({ type }) => type), ...conditions.map(() => 'any')];
    const tookMs = cpuMsOf(() =>
      certificateSigningRequestKind.validate(
        { spec: { ...spec, usages }, status: { conditions } },
        { spec, status: { conditions } },
      ),
    );
    assert.ok(tookMs < 3000, `${tookMs} ms`);
  });
});
