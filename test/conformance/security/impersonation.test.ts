import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Asker } from './asker.ts';
import type { SecuredServer } from './secured-server.ts';
import { startSecuredServer } from './secured-server.ts';
import { whoAmI } from './tokens.ts';

type Headers = Record<string, string | string[]>;

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const paths = ['/api/v1/nodes', '/api/v1/namespaces/default/secrets/canary', '/metrics', '/api', '/nothing'];

let server: SecuredServer;
/** May impersonate the user `alice`, the group `devs` and the value `p` of the extra `project`; nothing else. */
let deputy: Asker;

before(async () => {
  server = await startSecuredServer();
  deputy = server.holder(await server.issue({ commonName: 'deputy' }));
  const verbs = ['impersonate'];
  const rules = [
    { verbs, apiGroups: [''], resources: ['users'], resourceNames: ['alice'] },
    { verbs, apiGroups: [''], resources: ['groups'], resourceNames: ['devs'] },
    { verbs, apiGroups: ['authentication.k8s.io'], resources: ['userextras/project'], resourceNames: ['p'] },
  ];
  await server.admin.must('POST', `${rbac}/clusterroles`, { metadata: { name: 'deputy' }, rules });
  await server.admin.must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'deputy' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'deputy' },
    subjects: [{ kind: 'User', name: 'deputy' }],
  });
});
after(() => server?.[Symbol.asyncDispose]());

async function refusedEverywhere(who: Asker, headers: Headers, code: number): Promise<void> {
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'DELETE']) await who.refused([code], method, path, { headers });
  }
  await who.refused([code], 'POST', whoAmI, { headers, body: {} });
}

const user = { 'Impersonate-User': 'alice' };
const escapes: [string, Headers][] = [
  ['another user', { 'Impersonate-User': 'bob' }],
  ['an administrator', { 'Impersonate-User': 'kubernetes-admin' }],
  ['the control plane', { 'Impersonate-User': 'system:apiserver' }],
  ['a node', { 'Impersonate-User': 'system:node:a', 'Impersonate-Group': 'system:nodes' }],
  ['a service account', { 'Impersonate-User': 'system:serviceaccount:kube-system:default' }],
  ['themselves', { 'Impersonate-User': 'deputy' }],
  ['a name in another case', { 'Impersonate-User': 'Alice' }],
  ['two names in one', { 'Impersonate-User': 'alice,bob' }],
  ['all names', { 'Impersonate-User': '*' }],
  ['the group of masters', { ...user, 'Impersonate-Group': 'system:masters' }],
  ['it behind one that is permitted', { ...user, 'Impersonate-Group': ['devs', 'system:masters'] }],
  ['it before one that is permitted', { ...user, 'Impersonate-Group': ['system:masters', 'devs'] }],
  ['two groups in one', { ...user, 'Impersonate-Group': 'devs,system:masters' }],
  ['an empty group', { ...user, 'Impersonate-Group': '' }],
  ['an empty group beside one that is permitted', { ...user, 'Impersonate-Group': ['devs', ''] }],
  ['everybody’s group, said', { ...user, 'Impersonate-Group': 'system:authenticated' }],
  ['a uid', { ...user, 'Impersonate-Uid': '0' }],
  ['another extra', { ...user, 'Impersonate-Extra-Scopes': 'all' }],
  ['another value of an extra', { ...user, 'Impersonate-Extra-Project': 'q' }],
  ['one value too many', { ...user, 'Impersonate-Extra-Project': ['p', 'q'] }],
  ['an empty value', { ...user, 'Impersonate-Extra-Project': '' }],
  ['an extra below', { ...user, 'Impersonate-Extra-Project%2Fx': 'p' }],
  ['an extra of every object', { ...user, 'Impersonate-Extra-__proto__': 'p' }],
  ['an extra called constructor', { ...user, 'Impersonate-Extra-Constructor': 'p' }],
];

const nonsense: [string, Headers][] = [
  ['a group alone', { 'Impersonate-Group': 'system:masters' }],
  ['a uid alone', { 'Impersonate-Uid': '0' }],
  ['an extra alone', { 'Impersonate-Extra-Project': 'p' }],
  ['nobody', { 'Impersonate-User': '' }],
  ['nobody, with a group', { 'Impersonate-User': '', 'Impersonate-Group': 'system:masters' }],
  ['two users', { 'Impersonate-User': ['alice', 'bob'] }],
  ['the same user twice', { 'Impersonate-User': ['alice', 'alice'] }],
  ['nobody and then a user', { 'Impersonate-User': ['', 'alice'] }],
  ['a user and then nobody', { 'Impersonate-User': ['alice', ''] }],
  ['two uids', { ...user, 'Impersonate-Uid': ['', '0'] }],
  ['an unknown part', { ...user, 'Impersonate-Groups': 'devs' }],
  ['an extra without a key', { ...user, 'Impersonate-Extra-': 'p' }],
  ['a key that is not encoded', { ...user, 'Impersonate-Extra-%E0%A4%A': 'p' }],
];

describe('impersonation by somebody without the right', () => {
  for (const [what, headers] of [['somebody', user] as [string, Headers], ...escapes]) {
    test(`of ${what} is refused`, async () => {
      await refusedEverywhere(server.stranger, headers, 403);
      await server.nobody.refused([401], 'GET', '/api/v1/nodes', { headers });
    });
  }

  test('is refused to a node and to the bearer of a token', async () => {
    const bearer = server.bearer(server.listedToken);
    for (const who of [await server.node('a'), bearer]) {
      for (const [, headers] of escapes) {
        await who.refused([403], 'GET', '/api/v1/namespaces/default/secrets/canary', { headers });
      }
    }
  });
});

describe('impersonation by somebody with a right to one', () => {
  test('makes them that one, and takes their own rights away', async () => {
    const headers = { ...user, 'Impersonate-Group': 'devs', 'Impersonate-Extra-Project': 'p' };
    const { code, text } = await deputy.ask('POST', whoAmI, { headers, body: {} });
    assert.equal(code, 201, text);
    assert.deepEqual(JSON.parse(text).status.userInfo, {
      username: 'alice',
      groups: ['devs', 'system:authenticated'],
      extra: { project: ['p'] },
    });
    await deputy.refused([403], 'GET', '/api/v1/namespaces/default/secrets/canary', { headers });
  });

  for (const [what, headers] of escapes) {
    test(`does not extend to ${what}`, () => refusedEverywhere(deputy, headers, 403));
  }
});

describe('impersonation that makes no sense', () => {
  for (const [what, headers] of nonsense) {
    test(`${what} is a bad request, whoever asks`, async () => {
      await refusedEverywhere(deputy, headers, 400);
      await refusedEverywhere(server.stranger, headers, 400);
      await server.admin.refused('BadRequest', 'GET', '/api/v1/nodes', { headers });
    });
  }

  test('a name with an underscore for the hyphen is another header', async () => {
    const headers = { Impersonate_User: 'alice', 'X-Impersonate-User': 'alice' };
    const { text } = await deputy.ask('POST', whoAmI, { headers, body: {} });
    assert.equal(JSON.parse(text).status.userInfo.username, 'deputy');
  });
});
