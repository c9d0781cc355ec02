import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CertificateSigningRequest } from '../../../../src/api/index.ts';
import { certificateSigningRequestKind } from '../../../../src/api/index.ts';

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
    for (const signerName of ['', 'kubelet', '/x', 'example.com/', 'a/b/c', 'A/b', `a/${'b'.repeat(600)}`]) {
      assert.match(
        causes({ signerName })[0] ?? '',
        /^spec.signerName: .* of the form 'example.com\/signer-name'/,
        signerName,
      );
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
