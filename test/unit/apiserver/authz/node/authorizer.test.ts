import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NodeAuthorizer } from '../../../../../src/apiserver/authz/index.ts';
import type { Attributes } from '../../../../../src/apiserver/authz/types.ts';

/** Node a has the pod team/mine, which names the objects called `named`. */
const facts = {
  names: (node: string, _resource: string, namespace: string, name: string) =>
    node === 'a' && namespace === 'team' && name === 'named',
  pod: (namespace: string, name: string) =>
    namespace === 'team' && (name === 'mine' || name === 'foreign')
      ? { spec: { containers: [], nodeName: name === 'mine' ? 'a' : 'b' } }
      : undefined,
  nodeUid: () => undefined,
  claimOf: (name: string) =>
    ({ bound: { namespace: 'team', name: 'named' }, foreign: { namespace: 'team', name: 'other' } })[name],
  claimsWithSecret: (namespace: string, name: string) =>
    namespace === 'storage' && name === 'key'
      ? ['other', 'named'].map((claim) => ({ namespace: 'team', name: claim }))
      : [],
  driverOf: () => undefined,
  audiencesOf: () => [],
  attachedTo: (name: string) => ({ mine: 'a', foreign: 'b' })[name],
  sliceNode: (name: string) => ({ mine: 'a', foreign: 'b', everywhere: '' })[name],
  requester: (name: string) => ({ mine: 'system:node:a', foreign: 'system:node:b' })[name],
};
const authorizer = new NodeAuthorizer('k8s.io', facts);
const a = { name: 'system:node:a', groups: ['system:nodes', 'system:authenticated'], extra: {} };

type Asked = Partial<Extract<Attributes, { resource: string }>>;

/** `verb what[/part][ namespace/][name]`, with groups by the first letters. */
function asking(text: string, more: Asked = {}): Attributes {
  const [verb = '', what = '', place = ''] = text.split(' ');
  const [resource = '', subresource = ''] = what.split('/');
  const [namespace = '', name = ''] = place.includes('/') ? place.split('/') : ['', place];
  const group = groups[resource] ?? '';
  return { verb, group, version: 'v1', resource, subresource, namespace, name, ...more };
}

const groups: Readonly<Record<string, string>> = {
  leases: 'coordination.k8s.io',
  csinodes: 'storage.k8s.io',
  csidrivers: 'storage.k8s.io',
  volumeattachments: 'storage.k8s.io',
  runtimeclasses: 'node.k8s.io',
  resourceclaims: 'resource.k8s.io',
  resourceslices: 'resource.k8s.io',
  certificatesigningrequests: 'certificates.k8s.io',
  clustertrustbundles: 'certificates.k8s.io',
  tokenreviews: 'authentication.k8s.io',
  subjectaccessreviews: 'authorization.k8s.io',
};

const requirement = (field: string, operator: '=' | '!=', value: string): Asked => ({
  selectors: { fields: [{ field, operator, value }], labels: [] },
});
const heartbeats = 'kube-node-lease';

const allowed: [string, Asked?][] = [
  ['get resourceclaims team/named'],
  ['create resourceslices'],
  ['update resourceslices mine'],
  ['delete resourceslices mine'],
  ['list resourceslices', requirement('spec.nodeName', '=', 'a')],
  ['watch resourceslices', requirement('spec.nodeName', '=', 'a')],
  ['deletecollection resourceslices', requirement('spec.nodeName', '=', 'a')],
  ['get secrets team/named'],
  ['list secrets team/named'],
  ['watch configmaps team/named'],
  ['list configmaps team/', requirement('metadata.name', '=', 'named')],
  ['get persistentvolumeclaims team/named'],
  ['patch persistentvolumeclaims/status team/named'],
  ['get persistentvolumes bound'],
  ['get secrets storage/key'],
  ['get volumeattachments mine'],
  ['list csidrivers'],
  ['get clustertrustbundles any'],
  ['list clustertrustbundles'],
  ['watch clustertrustbundles'],
  ['watch csidrivers'],
  ['get serviceaccounts team/named'],
  ['create serviceaccounts/token team/named'],
  ['get pods team/mine'],
  ['watch pods team/mine'],
  ['list pods', { nodeName: 'a' }],
  ['watch pods', requirement('spec.nodeName', '=', 'a')],
  ['create pods team/'],
  ['delete pods team/mine'],
  ['delete pods team/foreign'], // which the restriction refuses
  ['update pods/status team/mine'],
  ['create pods/eviction team/mine'],
  ['create nodes'],
  ['get nodes a'],
  ['list nodes a'],
  ['patch nodes a'],
  ['update nodes/status a'],
  [`create leases ${heartbeats}/`],
  [`delete leases ${heartbeats}/a`],
  ['create csinodes'],
  ['update csinodes a'],
  ['create certificatesigningrequests'],
  ['get certificatesigningrequests mine'],
  ['watch certificatesigningrequests mine'],
  ['create events team/'],
  ['patch events team/any'],
  ['create tokenreviews'],
  ['create subjectaccessreviews'],
  ['list services'],
  ['get runtimeclasses any'],
  ['watch runtimeclasses'],
];

const noRelation = "no relationship found between node 'a' and this object";
const refused: [string, string, Asked?][] = [
  ['get resourceclaims team/other', noRelation],
  ['list resourceclaims team/named', 'can only get individual resources of this type'],
  ['update resourceslices foreign', noRelation],
  ['delete resourceslices everywhere', noRelation],
  ['get resourceslices absent', noRelation],
  ['list resourceslices', 'can only list/watch/deletecollection resourceslices with nodeName field selector'],
  [
    'deletecollection resourceslices',
    'can only list/watch/deletecollection resourceslices with nodeName field selector',
    requirement('spec.nodeName', '=', 'b'),
  ],
  ['get secrets team/other', noRelation],
  ['get secrets other/named', noRelation],
  ['get secrets team/', 'No Object name found'],
  ['list secrets team/', 'No Object name found'],
  ['list secrets team/', 'No Object name found', requirement('metadata.name', '!=', 'named')],
  [
    'list secrets',
    'can only read namespaced object of this type',
    requirement('metadata.name', '=', 'named'),
  ],
  ['update secrets team/named', 'can only read resources of this type'],
  ['delete configmaps team/named', 'can only read resources of this type'],
  ['create secrets team/named', 'can only read resources of this type'],
  ['deletecollection secrets team/named', 'can only read resources of this type'],
  ['get secrets/x team/named', 'cannot read subresource'],
  ['* secrets team/named', 'can only read resources of this type'],
  ['list persistentvolumeclaims team/named', 'can only get individual resources of this type'],
  ['update persistentvolumeclaims team/named', 'can only get individual resources of this type'],
  ['patch persistentvolumeclaims/status team/other', noRelation],
  ['get persistentvolumeclaims/status team/named', 'can only get/update/patch this type'],
  ['update persistentvolumeclaims/other team/named', 'can only update status subresource'],
  ['get persistentvolumes foreign', noRelation],
  ['get persistentvolumes free', noRelation],
  ['get persistentvolumes', 'No Object name found'],
  ['get persistentvolumes/status bound', 'cannot get subresource'],
  ['list persistentvolumes', 'can only get individual resources of this type'],
  ['get secrets storage/other', noRelation],
  ['get volumeattachments foreign', noRelation],
  ['update volumeattachments mine', 'can only get individual resources of this type'],
  ['update csidrivers any', ''],
  ['list serviceaccounts team/named', 'can only get individual resources of this type'],
  ['create serviceaccounts/token team/other', noRelation],
  ['create serviceaccounts/token team/', 'can only create tokens for individual service accounts'],
  ['get serviceaccounts/token team/named', 'can only create tokens for individual service accounts'],
  ['create serviceaccounts team/named', 'can only get individual resources of this type'],
  ['get pods team/foreign', noRelation],
  ['get pods team/none', noRelation],
  ['list pods', 'can only list/watch pods with spec.nodeName field selector'],
  ['list pods team/', 'can only list/watch pods with spec.nodeName field selector', { nodeName: 'b' }],
  [
    'list pods',
    'can only list/watch pods with spec.nodeName field selector',
    requirement('spec.nodeName', '!=', 'a'),
  ],
  ['get pods', 'can only list/watch pods with spec.nodeName field selector', { nodeName: 'a' }],
  ['update pods team/mine', ''],
  ['deletecollection pods', '', { nodeName: 'a' }],
  ['get pods/status team/mine', ''],
  ['get pods/log team/mine', ''],
  ['create pods/exec team/mine', ''],
  ['create pods/binding team/mine', ''],
  ['update pods/ephemeralcontainers team/mine', ''],
  ['get nodes b', "node 'a' cannot read 'b', only its own Node object"],
  ['list nodes', "node 'a' cannot read all nodes, only its own Node object"],
  ['update nodes b', "node 'a' cannot write 'b', only its own Node object"],
  ['delete nodes a', ''],
  ['get nodes/proxy a', ''],
  [`get leases ${heartbeats}/b`, 'can only access node lease with the same name as the requesting node'],
  [`list leases ${heartbeats}/`, 'can only get, create, update, patch, or delete a node lease'],
  ['get leases default/a', 'can only access leases in the "kube-node-lease" system namespace'],
  ['get csinodes b', 'can only access CSINode with the same name as the requesting node'],
  ['list csinodes', 'can only get, create, update, patch, or delete a CSINode'],
  ['get csinodes/status a', 'cannot authorize CSINode subresources'],
  ['get certificatesigningrequests foreign', noRelation],
  ['list certificatesigningrequests', noRelation],
  ['update certificatesigningrequests/approval mine', ''],
  ['delete events team/any', ''],
  ['get events team/any', ''],
  ['get namespaces team', ''],
  ['get secrets team/named', '', { group: 'example.org' }],
  ['get tokenreviews', ''],
];

describe('a node', () => {
  for (const [text, more] of allowed) {
    test(`may ${text} ${more === undefined ? '' : JSON.stringify(more)}`, async () => {
      assert.equal((await authorizer.authorize(a, asking(text, more))).verdict, 'allow');
    });
  }
  for (const [text, reason, more] of refused) {
    test(`may not ${text} ${more === undefined ? '' : JSON.stringify(more)}`, async () => {
      const { verdict, reason: told } = await authorizer.authorize(a, asking(text, more));
      assert.deepEqual([verdict, told], ['noOpinion', reason]);
    });
  }

  test('is told by its name and its group', async () => {
    const get = asking('get secrets team/named');
    for (const user of [
      { ...a, groups: [] },
      { ...a, name: 'a' },
      { ...a, name: 'system:node:' },
      { ...a, name: 'system:node:b' },
    ]) {
      assert.equal((await authorizer.authorize(user, get)).verdict, 'noOpinion');
    }
  });

  test('has no paths of its own', async () => {
    assert.equal((await authorizer.authorize(a, { verb: 'get', path: '/metrics' })).verdict, 'noOpinion');
  });
});
