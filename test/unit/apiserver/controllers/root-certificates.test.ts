import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { named, namespaces, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const path = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`;

interface Found {
  readonly metadata: { readonly uid?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

async function find(namespace: string): Promise<Found | undefined> {
  const reply = await admin.request('GET', path(namespace));
  return reply.code === 200 ? JSON.parse(reply.text) : undefined;
}

const isWhole = async (namespace: string) => {
  const found = await find(namespace);
  const { data = {}, binaryData } = found ?? {};
  const isRight =
    Object.keys(data).length === 1 && data['ca.crt'] === server.running.ca && binaryData === undefined;
  return isRight ? found : undefined;
};

describe('the certificate of the authority', () => {
  test('is in every namespace, from the start and in new ones', async () => {
    await admin.must('POST', namespaces, named('fresh'));
    for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'fresh']) {
      await waitFor(`the certificate in ${namespace}`, () => isWhole(namespace));
    }
  });

  test('comes again when it was deleted', async () => {
    await admin.must('POST', namespaces, named('deleted'));
    const first = await waitFor('the certificate', () => isWhole('deleted'));
    await admin.must('DELETE', path('deleted'));
    const second = await waitFor('another one', () => isWhole('deleted'));
    assert.notEqual(second.metadata.uid, first.metadata.uid);
  });

  test('is put right when somebody has changed it, also for good', async () => {
    await admin.must('POST', namespaces, named('changed'));
    await waitFor('the certificate', () => isWhole('changed'));
    for (const change of [
      { data: { 'ca.crt': 'another' } },
      { data: { 'ca.crt': server.running.ca, more: 'x' } },
      { data: { 'ca.crt': server.running.ca }, binaryData: { more: 'eA==' } },
      { data: {} },
      { data: { 'ca.crt': 'another' }, immutable: true },
    ]) {
      await admin.must('PUT', path('changed'), { ...named('kube-root-ca.crt'), ...change });
      await waitFor(`what was changed: ${JSON.stringify(change).slice(0, 40)}`, () => isWhole('changed'));
    }
  });

  test('goes with its namespace', async () => {
    await admin.must('POST', namespaces, named('going'));
    await waitFor('the certificate', () => isWhole('going'));
    await admin.request('DELETE', `${namespaces}/going`);
    const isGone = async () => (await admin.request('GET', `${namespaces}/going`)).code === 404;
    await waitFor('the namespace to go', isGone);
    assert.equal(await find('going'), undefined);
  });
});
