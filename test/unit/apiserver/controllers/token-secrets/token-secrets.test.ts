import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import type { Shown } from '../../support/index.ts';
import { named, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin, nobody } = server;

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const secrets = '/api/v1/namespaces/default/secrets';
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const nameOf = 'kubernetes.io/service-account.name';
const uidOf = 'kubernetes.io/service-account.uid';

const secretOf = (name: string, account: string, more: object = {}) => ({
  metadata: { name, annotations: { [nameOf]: account } },
  type: 'kubernetes.io/service-account-token',
  ...more,
});

function dataOf(object: Shown): Record<string, string> {
  const data = 'data' in object ? Object(object.data) : {};
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(String(text), 'base64').toString('utf8')]),
  );
}

/** The token in a Secret, once it is filled. */
async function filled(name: string): Promise<string> {
  return await waitFor(
    'the token',
    async () => dataOf(await admin.must('GET', `${secrets}/${name}`))['token'],
  );
}

async function createFilled(name: string): Promise<string> {
  await admin.must('POST', accounts, named(name));
  await admin.must('POST', secrets, secretOf(name, name));
  return await filled(name);
}

/** What a request with the token is answered with: 403 is known, 401 is not. */
async function codeFor(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await nobody.request('GET', secrets, { headers })).code;
}

const isThere = async (name: string) => (await admin.request('GET', `${secrets}/${name}`)).code === 200;

describe('Secrets of type kubernetes.io/service-account-token', () => {
  test('are filled with a token of their account, the authority and the namespace', async () => {
    const { metadata } = await admin.must('POST', accounts, named('robot'));
    await admin.must('POST', secrets, secretOf('robot-token', 'robot', { stringData: { own: 'x' } }));
    const token = await filled('robot-token');
    const secret = await admin.must('GET', `${secrets}/robot-token`);
    assert.deepEqual(dataOf(secret), { token, namespace: 'default', 'ca.crt': server.running.ca, own: 'x' });
    assert.equal(secret.metadata.annotations?.[uidOf], metadata.uid);
    const [, payload = ''] = token.split('.');
    assert.deepEqual(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')), {
      iss: 'kubernetes/serviceaccount',
      'kubernetes.io/serviceaccount/namespace': 'default',
      'kubernetes.io/serviceaccount/secret.name': 'robot-token',
      'kubernetes.io/serviceaccount/service-account.name': 'robot',
      'kubernetes.io/serviceaccount/service-account.uid': metadata.uid,
      sub: 'system:serviceaccount:default:robot',
    });
  });

  test('their tokens are accepted as the account, and reviewed', async () => {
    const token = await createFilled('reviewed');
    assert.equal(await codeFor(token), 403, 'known, and without rights');
    const { status } = await admin.must('POST', reviews, { spec: { token } });
    const { metadata } = await admin.must('GET', `${accounts}/reviewed`);
    assert.deepEqual(status?.['user'], {
      username: 'system:serviceaccount:default:reviewed',
      uid: metadata.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    const other = await admin.must('POST', reviews, { spec: { token, audiences: ['vault'] } });
    assert.notEqual(other.status?.['authenticated'], true);
  });

  test('a token ends at once with its Secret', async () => {
    const token = await createFilled('revoked');
    assert.equal(await codeFor(token), 403);
    await admin.must('DELETE', `${secrets}/revoked`);
    assert.equal(await codeFor(token), 401);
    await admin.must('POST', secrets, secretOf('revoked', 'revoked'));
    const next = await filled('revoked');
    assert.equal(await codeFor(next), 403);
    if (next !== token) assert.equal(await codeFor(token), 401, 'the Secret must have that very token');
  });

  test('a token ends with a finalizer on its Secret, too, and when the Secret has another one', async () => {
    const token = await createFilled('held');
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patch = (body: object) =>
      admin.request('PATCH', `${secrets}/held`, { body: JSON.stringify(body), headers });
    await patch({ data: { token: Buffer.from('other').toString('base64') } });
    assert.equal(await codeFor(token), 401);
    await patch({ data: { token: Buffer.from(token).toString('base64') } });
    assert.equal(await codeFor(token), 403);
    await patch({ metadata: { finalizers: ['example.com/hold'] } });
    await admin.request('DELETE', `${secrets}/held`);
    assert.equal(await codeFor(token), 401);
    await patch({ metadata: { finalizers: [] } });
  });

  test('the label legacy-token-invalid-since puts a token out of use', async () => {
    const token = await createFilled('labelled');
    const headers = { 'content-type': 'application/merge-patch+json' };
    for (const [value, code] of [
      ['2026-01-02', 401],
      [null, 403],
    ] as const) {
      const labels = { 'kubernetes.io/legacy-token-invalid-since': value };
      const body = JSON.stringify({ metadata: { labels } });
      await admin.request('PATCH', `${secrets}/labelled`, { body, headers });
      assert.equal(await codeFor(token), code);
    }
  });

  test('go when the account goes, and their tokens with it', async () => {
    const token = await createFilled('leaving');
    await admin.must('DELETE', `${accounts}/leaving`);
    assert.equal(await codeFor(token), 401);
    await waitFor('the Secret to go', async () => !(await isThere('leaving')));
    await admin.must('POST', accounts, named('leaving'));
    assert.equal(await codeFor(token), 401, 'another account of that name');
  });

  test('of an account that does not exist, or of one of another uid, are removed', async () => {
    await admin.must('POST', accounts, named('twin'));
    const annotations = { [nameOf]: 'twin', [uidOf]: 'another' };
    await admin.must('POST', secrets, secretOf('nobodys', 'nobody'));
    await admin.must('POST', secrets, {
      ...secretOf('twin', 'twin'),
      metadata: { name: 'twin', annotations },
    });
    await waitFor('both to go', async () => !(await isThere('nobodys')) && !(await isThere('twin')));
  });

  test('without the annotation are refused', async () => {
    const { details } = await admin.refused('Invalid', 'POST', secrets, {
      body: { metadata: { name: 'x' }, type: 'kubernetes.io/service-account-token' },
    });
    assert.equal(details?.causes?.[0]?.field, `metadata.annotations[${nameOf}]`);
  });

  test('are left as they are when they are filled, immutable, or of another type', async () => {
    await admin.must('POST', accounts, named('quiet'));
    await admin.must('POST', secrets, secretOf('fixed', 'quiet', { immutable: true }));
    await admin.must('POST', secrets, { ...secretOf('opaque', 'quiet'), type: 'Opaque' });
    await createFilled('last');
    for (const name of ['fixed', 'opaque']) {
      assert.deepEqual(dataOf(await admin.must('GET', `${secrets}/${name}`)), {});
    }
    const before = await admin.must('GET', `${secrets}/last`);
    const labels = { a: 'b' };
    await admin.must('PUT', `${secrets}/last`, { ...before, metadata: { ...before.metadata, labels } });
    await createFilled('after');
    assert.deepEqual(dataOf(await admin.must('GET', `${secrets}/last`)), dataOf(before));
  });
});
