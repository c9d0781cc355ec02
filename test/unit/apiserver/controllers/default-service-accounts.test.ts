import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { named, namespaces, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const account = (namespace: string) => `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
const found = async (path: string) => {
  const reply = await admin.request('GET', path);
  return reply.code === 200 ? JSON.parse(reply.text).metadata.uid : undefined;
};

describe('the account default', () => {
  test('is in every namespace, from the start and in new ones', async () => {
    await admin.must('POST', namespaces, named('fresh'));
    for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'fresh']) {
      await waitFor(`the account in ${namespace}`, () => found(account(namespace)));
    }
  });

  test('comes again when it was deleted', async () => {
    await admin.must('POST', namespaces, named('again'));
    const first = await waitFor('the account', () => found(account('again')));
    await admin.must('DELETE', account('again'));
    const second = await waitFor('another one', () => found(account('again')));
    assert.notEqual(second, first);
  });

  test('goes with its namespace', async () => {
    await admin.must('POST', namespaces, named('going'));
    await waitFor('the account', () => found(account('going')));
    await admin.request('DELETE', `${namespaces}/going`);
    await waitFor('the namespace to go', async () => (await found(`${namespaces}/going`)) === undefined);
    assert.equal(await found(account('going')), undefined);
  });

  test('is left as it is where somebody has made it', async () => {
    await waitFor('the account', () => found(account('default')));
    const body = { ...named('default'), imagePullSecrets: [{ name: 'pull' }] };
    await admin.must('PUT', account('default'), body);
    const { metadata } = await admin.must('POST', namespaces, named('unrelated'));
    await waitFor('the next account', () => found(account('unrelated')));
    const now: object = await admin.must('GET', account('default'));
    assert.deepEqual(Reflect.get(now, 'imagePullSecrets'), [{ name: 'pull' }], metadata.name);
  });
});
