import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { isRecord } from '../../../../../src/api/index.ts';
import { nodes, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin, stranger } = server;

const selfReview = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** Whom the server takes a request with these headers for. */
async function whoAmI(headers: Record<string, string | string[]>): Promise<unknown> {
  const { code, text } = await admin.request('POST', selfReview, { headers, body: {} });
  assert.equal(code, 201, text);
  const { status }: { status: unknown } = JSON.parse(text);
  return isRecord(status) ? status['userInfo'] : undefined;
}

describe('impersonation', () => {
  test('of a user brings none of its groups but that of everybody', async () => {
    assert.deepEqual(await whoAmI({ 'Impersonate-User': 'alice' }), {
      username: 'alice',
      groups: ['system:authenticated'],
    });
  });

  test('takes groups, uid and extra values from its headers', async () => {
    const headers = {
      'Impersonate-User': 'alice',
      'Impersonate-Group': ['a,b', 'c'],
      'Impersonate-Uid': 'u1',
      'Impersonate-Extra-Acme.com%2Fproject': ['p', 'q'],
    };
    assert.deepEqual(await whoAmI(headers), {
      username: 'alice',
      uid: 'u1',
      groups: ['a,b', 'c', 'system:authenticated'],
      extra: { 'acme.com/project': ['p', 'q'] },
    });
  });

  test('of a service account brings the groups of service accounts, unless others are named', async () => {
    const user = { 'Impersonate-User': 'system:serviceaccount:team:bot' };
    assert.deepEqual(await whoAmI(user), {
      username: 'system:serviceaccount:team:bot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:team', 'system:authenticated'],
    });
    assert.deepEqual(await whoAmI({ ...user, 'Impersonate-Group': 'x' }), {
      username: 'system:serviceaccount:team:bot',
      groups: ['x', 'system:authenticated'],
    });
  });

  test('leaves the rights of whoever impersonates behind', async () => {
    const headers = { 'Impersonate-User': 'alice' };
    const { message } = await admin.refused('Forbidden', 'GET', nodes, { headers });
    assert.match(message ?? '', /User "alice" cannot list/);
    const master = { ...headers, 'Impersonate-Group': 'system:masters' };
    assert.equal((await admin.request('GET', nodes, { headers: master })).code, 200);
    await admin.refused('Forbidden', 'GET', '/metrics', { headers });
  });

  test('needs the permission for every part of it', async () => {
    const { message } = await stranger.refused('Forbidden', 'GET', nodes, {
      headers: { 'Impersonate-User': 'alice' },
    });
    assert.match(
      message ?? '',
      /^users "alice" is forbidden: User "[^"]+" cannot impersonate resource "users" in API group "" at the cluster scope/,
    );
    await stranger.refused('Forbidden', 'GET', nodes, {
      headers: { 'Impersonate-User': 'system:serviceaccount:a:b' },
    });
    await server.nobody.refused('Unauthorized', 'GET', nodes, { headers: { 'Impersonate-User': 'alice' } });
  });

  test('that makes no sense is refused, whoever asks', async () => {
    for (const headers of [
      { 'Impersonate-Group': 'x' },
      { 'Impersonate-Uid': 'x' },
      { 'Impersonate-User': '' },
      { 'Impersonate-User': ['a', 'b'] },
      { 'Impersonate-User': 'a', 'Impersonate-Uid': ['a', 'b'] },
      { 'Impersonate-User': 'a', 'Impersonate-Extra-%E0%A4%A': 'x' },
      { 'Impersonate-User': 'a', 'Impersonate-Extra-': 'x' },
      { 'Impersonate-User': 'a', 'Impersonate-Scopes': 'x' },
    ]) {
      await admin.refused('BadRequest', 'GET', nodes, { headers });
    }
  });
});
