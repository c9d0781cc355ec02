import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ClusterTrustBundle } from '../../../../src/api/index.ts';
import { createAuthority } from '../../../../src/base/x509/index.ts';
import { waitFor } from '../../../support/index.ts';
import { startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const { ca } = server.running;

const path = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles';
const signerName = 'kubernetes.io/kube-apiserver-serving';
const ofSigner = `${path}?fieldSelector=spec.signerName%3D${encodeURIComponent(signerName)}`;

async function list(): Promise<ClusterTrustBundle[]> {
  const { text } = await admin.request('GET', ofSigner);
  return JSON.parse(text).items;
}

const theOne = () =>
  waitFor('the one bundle of the API', async () => {
    const [first, ...others] = await list();
    return others.length === 0 && first?.spec.trustBundle === ca ? first : undefined;
  });

describe('the trust bundle of the API', () => {
  test('is there from the start, with the name of its content', async () => {
    const { metadata, spec } = await theOne();
    assert.match(metadata?.name ?? '', /^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{24}$/);
    assert.equal(spec.signerName, signerName);
  });

  test('comes again when it was deleted, and is put right when it was changed', async () => {
    const first = await theOne();
    const own = `${path}/${first.metadata?.name}`;
    await admin.must('DELETE', own);
    const second = await waitFor('another one', async () => {
      const found = await theOne();
      return found.metadata?.uid === first.metadata?.uid ? undefined : found;
    });
    const { cert } = await createAuthority('another', 3600_000, Date.now());
    await admin.must('PUT', own, { ...second, spec: { ...second.spec, trustBundle: cert } });
    await theOne();
  });

  test('is the only one of its signer; those of others stay', async () => {
    const { spec } = await theOne();
    const old = 'kubernetes.io:kube-apiserver-serving:old';
    const other = 'example.com:kube-apiserver-serving:other';
    const make = (name: string, more: object) =>
      admin.must('POST', path, { metadata: { name }, spec: { ...spec, ...more } });
    await make(other, { signerName: 'example.com/kube-apiserver-serving' });
    await make(old, {});
    await waitFor('it to be removed', async () => (await list()).length === 1);
    await theOne();
    await admin.must('GET', `${path}/${other}`);
  });
});
