import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createRequest, generateKeyPem, noNames } from '../../../../src/base/x509/index.ts';
import { csrs, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const signerName = 'kubernetes.io/kube-apiserver-client';

async function asking(organizations: string[], signer = signerName) {
  const subject = { commonName: 'jane', organizations };
  const pem = await createRequest(await generateKeyPem(), subject, noNames);
  return encoded(pem, signer);
}

function encoded(pem: string, signer = signerName) {
  const request = Buffer.from(pem).toString('base64');
  return {
    metadata: { name: `csr-${Math.random()}` },
    spec: { request, signerName: signer, usages: ['client auth'] },
  };
}

describe('a request for a client certificate', () => {
  test('of ordinary groups is taken, of everybody for whoever may approve it', async () => {
    await admin.must('POST', csrs, await asking(['devs', 'system:nobody']));
    await admin.must('POST', csrs, await asking([]));
  });

  test('of system:masters is refused, whoever asks and wherever the group stands', async () => {
    for (const organizations of [['system:masters'], ['devs', 'system:masters', 'ops']]) {
      const body = await asking(organizations);
      const { message, details } = await admin.refused('Forbidden', 'POST', csrs, { body });
      const why = `use of ${signerName} signer with system:masters group is not allowed`;
      const subject = `certificatesigningrequests.certificates.k8s.io "${body.metadata.name}" is forbidden`;
      assert.equal(message, `${subject}: ${why}`);
      assert.equal(details?.group, 'certificates.k8s.io');
    }
  });

  test('that cannot be read is refused, for somebody else may read more in it', async () => {
    const good = Buffer.from((await asking([])).spec.request, 'base64').toString();
    for (const pem of [
      good.replace(/\n[A-Za-z0-9+/=]{20}/, '\n'),
      `${good}${good}`,
      '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n',
      '-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n',
    ]) {
      const { message = '' } = await admin.refused('Forbidden', 'POST', csrs, { body: encoded(pem) });
      assert.match(message, /failed to parse CSR: /);
    }
  });

  test('to another signer is that signer’s affair', async () => {
    await admin.must('POST', csrs, await asking(['system:masters'], 'example.com/own'));
  });
});
