import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { PolicyRule } from '../../../../../src/api/index.ts';
import {
  binding,
  bindingsIn,
  clusterBindings,
  clusterRoles,
  role,
  rolesIn,
  user,
} from '../../authz/rbac/served.ts';
import type { ApiTester } from '../../support/index.ts';
import { configMaps, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin, stranger } = server;

const apiVersion = 'rbac.authorization.k8s.io/v1';
const diffs = '/apis/access.nodeward.io/v1/accessdiffs';
const asking = { 'Nodeward-Access-Diff': 'true' };
const pods = (...verbs: string[]): PolicyRule => ({ verbs, apiGroups: [''], resources: ['pods'] });
const jane = { kind: 'User', name: 'jane' };

/** The status of the AccessDiff that a dry run answers. */
async function dryRun(
  method: string,
  path: string,
  send: Parameters<ApiTester['request']>[2] = {},
  tester: ApiTester = admin,
) {
  const reply = await tester.request(method, `${path}?dryRun=All`, {
    ...send,
    headers: { ...send.headers, ...asking },
  });
  assert.equal(reply.code, 200, reply.text);
  const { kind, status } = JSON.parse(reply.text);
  assert.equal(kind, 'AccessDiff');
  return status;
}

async function judged(spec: object) {
  return Object((await admin.must('POST', diffs, { spec })).status);
}

await admin.must('POST', clusterRoles, role('readers', pods('get')));
await admin.must('POST', bindingsIn('default'), binding('jane', 'ClusterRole', 'readers', user('jane')));

describe('a dry run with the header Nodeward-Access-Diff', () => {
  const first = { namespace: 'default', rule: pods('get') };
  const oneRole = `${clusterRoles}/readers`;

  test('tells who gains what by a new binding', async () => {
    const body = binding('joe', 'ClusterRole', 'readers', user('joe'), user('jane'));
    assert.deepEqual(await dryRun('POST', bindingsIn('default'), { body }), {
      changes: [{ subject: { kind: 'User', name: 'joe' }, gains: [first] }],
    });
  });

  test('tells it of PUT, of each kind of PATCH and of apply', async () => {
    const gains = [{ namespace: 'default', rule: pods('list') }];
    const rules = [pods('get', 'list')];
    const full = { apiVersion, kind: 'ClusterRole', metadata: { name: 'readers' }, rules };
    const patches = [
      ['application/merge-patch+json', { rules }],
      ['application/strategic-merge-patch+json', { rules }],
      ['application/json-patch+json', [{ op: 'add', path: '/rules/0/verbs/-', value: 'list' }]],
    ] as const;
    assert.deepEqual((await dryRun('PUT', oneRole, { body: full })).changes, [{ subject: jane, gains }]);
    for (const [type, body] of patches) {
      const send = { body: JSON.stringify(body), headers: { 'content-type': type } };
      assert.deepEqual((await dryRun('PATCH', oneRole, send)).changes, [{ subject: jane, gains }], type);
    }
    const reply = await admin.request('PATCH', `${oneRole}?dryRun=All&fieldManager=me&force=true`, {
      body: JSON.stringify(full),
      headers: { 'content-type': 'application/apply-patch+yaml', ...asking },
    });
    assert.deepEqual(JSON.parse(reply.text).status.changes, [{ subject: jane, gains }]);
  });

  test('tells it of DELETE, of a binding as of a role, with dryRun in the body too', async () => {
    const loses = [{ subject: jane, loses: [first] }];
    assert.deepEqual((await dryRun('DELETE', `${bindingsIn('default')}/jane`)).changes, loses);
    assert.deepEqual((await dryRun('DELETE', oneRole)).changes, loses);
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] };
    const reply = await admin.request('DELETE', oneRole, { body, headers: asking });
    assert.deepEqual(JSON.parse(reply.text).status.changes, loses);
  });

  test('writes nothing', async () => {
    const { metadata } = await admin.must('GET', oneRole);
    await dryRun('DELETE', oneRole);
    assert.equal((await admin.must('GET', oneRole)).metadata.resourceVersion, metadata.resourceVersion);
  });

  test('knows what roles gather of the one that is written', async () => {
    await admin.must('POST', clusterBindings, binding('viewer', 'ClusterRole', 'view', user('vic')));
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const widgets = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] };
    const body = { metadata: { name: 'widgets', labels }, rules: [widgets] };
    // admin gathers edit, and edit gathers view
    await admin.must('POST', bindingsIn('default'), binding('ada', 'ClusterRole', 'admin', user('ada')));
    const { changes } = await dryRun('POST', clusterRoles, { body });
    assert.deepEqual(changes, [
      { subject: { kind: 'User', name: 'ada' }, gains: [{ namespace: 'default', rule: widgets }] },
      { subject: { kind: 'User', name: 'vic' }, gains: [{ rule: widgets }] },
    ]);
  });

  test('is answered as YAML where that is asked for', async () => {
    const reply = await admin.request('DELETE', `${oneRole}?dryRun=All`, {
      headers: { ...asking, accept: 'application/yaml' },
    });
    assert.match(reply.text, /^apiVersion: access\.nodeward\.io\/v1\nkind: AccessDiff\n/m);
  });

  test('is refused where there is no such answer', async () => {
    const map = { body: { metadata: { name: 'x' } }, headers: asking };
    await admin.refused('BadRequest', 'POST', `${configMaps('default')}?dryRun=All`, map);
    await admin.refused('BadRequest', 'DELETE', oneRole, { headers: asking });
    await admin.refused('BadRequest', 'POST', clusterRoles, {
      body: role('x', pods('get')),
      headers: asking,
    });
    await admin.refused('BadRequest', 'GET', oneRole, { headers: asking });
    await admin.refused('BadRequest', 'GET', `${clusterRoles}?watch=true`, { headers: asking });
    await admin.refused('BadRequest', 'DELETE', `${clusterRoles}?dryRun=All`, { headers: asking });
    const odd = { headers: { 'Nodeward-Access-Diff': 'perhaps' } };
    await admin.refused('BadRequest', 'DELETE', `${oneRole}?dryRun=All`, odd);
    await admin.refused('NotFound', 'GET', `${clusterRoles}/x`);
  });

  test('needs the right to ask about access, and all that the write needs', async () => {
    const rules = [
      pods('get'),
      { verbs: ['create'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] },
    ];
    await admin.must('POST', rolesIn('default'), role('writer', ...rules));
    await admin.must('POST', bindingsIn('default'), binding('writer', 'Role', 'writer', user('stranger')));
    const path = `${rolesIn('default')}?dryRun=All`;
    const send = { body: role('mine', pods('get')), headers: asking };
    const { message = '' } = await stranger.refused('Forbidden', 'POST', path, send);
    assert.match(message, /cannot create resource "accessdiffs"/);
    const given = binding('asker', 'ClusterRole', 'nodeward:access-reader', user('stranger'));
    await admin.must('POST', clusterBindings, given);
    assert.deepEqual(await dryRun('POST', rolesIn('default'), { body: send.body }, stranger), {});
    const escalating = { body: role('mine', pods('*')), headers: asking };
    const refused = await stranger.refused('Forbidden', 'POST', path, escalating);
    assert.match(refused.message ?? '', /attempting to grant RBAC permissions not currently held/);
  });
});

describe('an AccessDiff', () => {
  const object = (kind: string, name: string, more: object) => ({
    apiVersion,
    kind,
    metadata: { name },
    ...more,
  });
  const inTeam = (kind: string, name: string, more: object) => ({
    ...object(kind, name, more),
    metadata: { name, namespace: 'team' },
  });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
  const subjects = [{ kind: 'User', name: 'ann' }];

  test('judges a role and its binding together, in a namespace that is not there yet', async () => {
    const objects = [
      inTeam('RoleBinding', 'b', { roleRef, subjects }),
      inTeam('Role', 'r', { rules: [pods('get')] }),
    ];
    assert.deepEqual(await judged({ objects }), {
      changes: [
        { subject: { kind: 'User', name: 'ann' }, gains: [{ namespace: 'team', rule: pods('get') }] },
      ],
    });
    const { errors } = await judged({ objects: objects.slice(0, 1) });
    assert.deepEqual(errors, [
      'RoleBinding "b" gives Role "r", which does not exist: until it is made, nothing is given',
    ]);
  });

  test('takes the last of several that say something of the same object, and deletions after all', async () => {
    const roles = [pods('get', 'list'), pods('get', 'watch')].map((rule) =>
      object('ClusterRole', 'readers', { rules: [rule] }),
    );
    const { changes } = await judged({ objects: roles });
    assert.deepEqual(changes, [{ subject: jane, gains: [{ namespace: 'default', rule: pods('watch') }] }]);
    const deleted = [{ kind: 'ClusterRole', name: 'readers' }];
    const gone = await judged({ objects: roles, deleted });
    assert.deepEqual(gone.changes, [{ subject: jane, loses: [{ namespace: 'default', rule: pods('get') }] }]);
    const { errors } = await judged({ deleted: [{ kind: 'ClusterRole', name: 'nope' }] });
    assert.deepEqual(errors, ['there is no ClusterRole "nope"']);
  });

  test('keeps labels that are not named, unless objects are replaced', async () => {
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const gadgets = { verbs: ['get'], apiGroups: ['example.com'], resources: ['gadgets'] };
    await admin.must('POST', clusterRoles, { metadata: { name: 'gadgets', labels }, rules: [gadgets] });
    await admin.must('POST', clusterBindings, binding('gv', 'ClusterRole', 'view', user('gus')));
    const objects = [object('ClusterRole', 'gadgets', { rules: [gadgets] })];
    const lost = { spec: { objects, replace: true } };
    let changes: { subject: { name: string } }[] | undefined;
    for (let tries = 0; tries < 100 && changes === undefined; tries++) {
      const { status } = await admin.must('POST', diffs, lost); // once the controller has gathered it
      ({ changes } = Object(status));
    }
    assert.ok(changes?.some(({ subject: { name } }) => name === 'gus'));
    assert.deepEqual(await judged({ objects }), {});
  });

  test('is refused with everything that is wrong with it', async () => {
    const other = { ...roleRef, kind: 'ClusterRole', name: 'other' };
    const wrong = [
      [{}, 'spec'],
      [{ objects: [{ ...object('Role', 'x', {}), apiVersion: 'v1' }] }, 'spec.objects[0].apiVersion'],
      [{ objects: [object('Pod', 'x', {})] }, 'spec.objects[0].kind'],
      [{ objects: [object('Role', 'x', {})] }, 'spec.objects[0].metadata.namespace'],
      [{ objects: [object('ClusterRole', 'x', { subjects })] }, 'spec.objects[0].subjects'],
      [
        { objects: [object('ClusterRole', 'x', { rules: [{ verbs: [] }] })] },
        'spec.objects[0].rules[0].verbs',
      ],
      [
        {
          objects: [
            {
              ...object('RoleBinding', 'jane', { roleRef: other }),
              metadata: { name: 'jane', namespace: 'default' },
            },
          ],
        },
        'spec.objects[0].roleRef',
      ],
      [{ deleted: [{ kind: 'Node', name: 'a' }] }, 'spec.deleted[0].kind'],
    ] as const;
    for (const [spec, field] of wrong) {
      const { details } = await admin.refused('Invalid', 'POST', diffs, { body: { spec } });
      assert.equal(details?.causes?.[0]?.field, field);
    }
    await server.nobody.refused('Unauthorized', 'POST', diffs, { body: { spec: {} } });
  });
});
