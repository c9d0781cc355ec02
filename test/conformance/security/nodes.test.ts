import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../support/index.ts';
import type { ApiTester } from '../../unit/apiserver/support/api-tester.ts';
import { csrs, lease, leases, named, nodes, signingRequest } from '../../unit/apiserver/support/objects.ts';
import type { Asker } from './asker.ts';
import type { SecuredServer } from './secured-server.ts';
import { startSecuredServer } from './secured-server.ts';
import { accounts, whoAmI } from './tokens.ts';

/*
 * A node whose key somebody has taken: it reaches what is its own, and nothing of another node, of a namespace, or of the
 * cluster.
 */

let server: SecuredServer;
let admin: ApiTester;
let taken: Asker;

const heartbeats = leases('kube-node-lease');
const inDefault = '/api/v1/namespaces/default';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const restricted = 'node-restriction.kubernetes.io/pool';

function pod(name: string, node: string) {
  const containers = [{ name: 'main', image: 'busybox' }];
  return { metadata: { name }, spec: { nodeName: node, containers } };
}

before(async () => {
  server = await startSecuredServer();
  ({ admin } = server);
  taken = await server.node('taken');
  for (const name of ['taken', 'other']) {
    await admin.must('POST', nodes, named(name, { labels: { [restricted]: name } }));
    await admin.must('POST', heartbeats, lease(name));
    await admin.must('POST', `${inDefault}/pods`, pod(`on-${name}`, name));
  }
  await admin.must('POST', leases('default'), lease('taken'));
});
after(() => server?.[Symbol.asyncDispose]());

const merge = { 'content-type': 'application/merge-patch+json' };

describe('a node', () => {
  test('reaches what is its own: the other tests do not refuse everything', async () => {
    for (const path of [`${nodes}/taken`, `${heartbeats}/taken`]) {
      assert.equal((await taken.ask('GET', path)).code, 200, path);
      const body = { metadata: { annotations: { 'example.com/seen': 'yes' } } };
      assert.equal((await taken.ask('PATCH', path, { headers: merge, body })).code, 200, path);
    }
  });

  const refusals: [string, string, object?][] = [
    // another node
    ['GET', `${nodes}/other`],
    ['PUT', `${nodes}/other`, named('other')],
    ['PATCH', `${nodes}/other`, {}],
    ['DELETE', `${nodes}/other`],
    ['PUT', `${nodes}/other/status`, { ...named('other'), status: {} }],
    ['PATCH', `${nodes}/other/status`, { status: { conditions: [] } }],
    ['POST', nodes, named('another')],
    ['POST', nodes, { metadata: { generateName: 'taken' } }],
    ['DELETE', nodes],
    ['GET', `${nodes}?fieldSelector=metadata.name%3Dother`],
    // its lease, and leases that are no heartbeats
    ['GET', `${heartbeats}/other`],
    ['PUT', `${heartbeats}/other`, lease('other')],
    ['PATCH', `${heartbeats}/other`, {}],
    ['DELETE', `${heartbeats}/other`],
    ['POST', heartbeats, lease('another')],
    ['POST', heartbeats, { metadata: { generateName: 'taken' }, spec: {} }],
    ['GET', heartbeats],
    ['DELETE', heartbeats],
    ['GET', `${leases('default')}/taken`],
    ['PUT', `${leases('default')}/taken`, lease('taken')],
    ['POST', leases('kube-system'), lease('taken')],
    // pods of another node
    ['PUT', `${inDefault}/pods/on-other/status`, pod('on-other', 'other')],
    ['PATCH', `${inDefault}/pods/on-other/status`, { status: { phase: 'Failed' } }],
    ['DELETE', `${inDefault}/pods/on-other`],
    ['PUT', `${inDefault}/pods/on-taken`, pod('on-taken', 'other')],
    ['DELETE', `${inDefault}/pods`],
    ['POST', `${inDefault}/pods/on-other/eviction`, named('on-other')],
    ['POST', `${inDefault}/pods/on-other/binding`, { target: { kind: 'Node', name: 'taken' } }],
    // secrets, and the tokens of accounts
    ['GET', `${inDefault}/secrets/canary`],
    ['GET', `${inDefault}/secrets`],
    ['GET', '/api/v1/secrets'],
    ['GET', '/api/v1/secrets?watch=1'],
    ['GET', `${inDefault}/secrets?fieldSelector=metadata.name%3Dcanary`],
    ['POST', `${inDefault}/secrets`, named('mine')],
    ['GET', '/api/v1/namespaces/kube-system/secrets/canary'],
    ['POST', `${accounts}/default/token`, { spec: {} }],
    ['POST', '/api/v1/namespaces/kube-system/serviceaccounts/default/token', { spec: {} }],
    // what gives rights
    ['GET', `${rbac}/clusterroles`],
    ['POST', `${rbac}/clusterroles`, { ...named('mine'), rules: [] }],
    ['POST', `${rbac}/clusterrolebindings`, named('mine')],
    ['POST', `${rbac}/namespaces/default/rolebindings`, named('mine')],
    ['PATCH', `${rbac}/clusterroles/system:node`, { rules: [] }],
    // what signs
    ['PUT', `${csrs}/x/approval`, named('x')],
    ['PUT', `${csrs}/x/status`, named('x')],
    ['PATCH', `${csrs}/x`, {}],
    ['DELETE', csrs],
    // the rest
    ['GET', '/metrics'],
    ['GET', '/api/v1/namespaces'],
    ['POST', '/api/v1/namespaces', named('mine')],
  ];
  for (const [method, path, body] of refusals) {
    test(`may not ${method} ${path}`, async () => {
      const headers = method === 'PATCH' ? merge : {};
      await taken.refused([403], method, path, { headers, ...(body === undefined ? {} : { body }) });
    });
  }

  test('does not change its own labels and taints that are kept from it', async () => {
    for (const change of [
      { metadata: { labels: { [restricted]: 'other' } } },
      { metadata: { labels: { [restricted]: null } } },
      { metadata: { labels: { [`x.${restricted}`]: 'a' } } },
      { spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } },
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'other', uid: 'x' }] } },
    ]) {
      await taken.refused([403], 'PATCH', `${nodes}/taken`, { headers: merge, body: change });
    }
  });

  test('does not become another by impersonation or by saying so', async () => {
    const headers = { 'impersonate-user': 'system:node:other', 'impersonate-group': 'system:nodes' };
    await taken.refused([403], 'GET', `${nodes}/other`, { headers });
    const { text } = await taken.ask('POST', whoAmI, { body: { status: { userInfo: { username: 'x' } } } });
    assert.equal(JSON.parse(text).status.userInfo.username, 'system:node:taken');
  });
});

describe('a request for a certificate in the name of another', () => {
  const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet';

  /** Its conditions and certificate, once the signer has seen a later one of the node's own. */
  async function settled(name: string) {
    const own = await taken.ask('POST', csrs, { body: await signingRequest('taken') });
    assert.equal(own.code, 201, own.text);
    const { metadata } = JSON.parse(own.text);
    await waitFor('the certificate of its own', async () => {
      const { status } = await admin.must('GET', `${csrs}/${metadata.name}`);
      return status?.['certificate'];
    });
    return (await admin.must('GET', `${csrs}/${name}`)).status ?? {};
  }

  test('is not approved, whatever it says of itself, and gets none', async () => {
    const reply = await taken.ask('POST', csrs, {
      body: await signingRequest('other', {
        spec: { username: 'system:node:other', groups: ['system:masters'], uid: '0' },
        status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'eA==' },
      }),
    });
    assert.equal(reply.code, 201, reply.text);
    const { metadata, spec, status } = JSON.parse(reply.text);
    assert.deepEqual(
      [spec.username, spec.groups],
      ['system:node:taken', ['system:nodes', 'system:authenticated']],
    );
    assert.deepEqual(status ?? {}, {});
    const later = await settled(metadata.name);
    assert.equal(later['certificate'], undefined);
    assert.equal(JSON.stringify(later).includes('Approved'), false);
    const approval = {
      ...named(metadata.name),
      status: { conditions: [{ type: 'Approved', status: 'True' }] },
    };
    await taken.refused([403], 'PUT', `${csrs}/${metadata.name}/approval`, { body: approval });
  });

  test('of an administrator, or for another signer, is refused', async () => {
    for (const signerName of ['kubernetes.io/kube-apiserver-client', 'example.com/mine']) {
      const body = await signingRequest('taken', { spec: { signerName } });
      await taken.refused([403], 'POST', csrs, { body });
    }
    const stranger = await server.stranger.refused([403], 'POST', csrs, {
      body: await signingRequest('taken'),
    });
    assert.match(stranger.text, /cannot create/);
    const usages = ['digital signature', 'server auth'];
    const reply = await taken.ask('POST', csrs, {
      body: await signingRequest('taken', { spec: { signerName: kubelet, usages } }),
    });
    assert.equal(reply.code, 201, reply.text);
    const { certificate } = await settled(JSON.parse(reply.text).metadata.name);
    assert.equal(certificate, undefined, 'one for clients is not for servers too');
  });
});

describe('who is only almost a node', () => {
  test('reaches no node at all', async () => {
    for (const [commonName, ...organizations] of [
      ['system:node:taken'],
      ['system:node:taken', 'system:node'],
      ['system:node:taken', 'System:Nodes'],
      ['system:node:', 'system:nodes'],
      ['system:Node:taken', 'system:nodes'],
      ['taken', 'system:nodes'],
    ]) {
      assert.ok(commonName !== undefined);
      const who = server.holder(await server.issue({ commonName, organizations }));
      for (const path of [`${nodes}/taken`, `${heartbeats}/taken`, `${nodes}/`]) {
        await who.refused([403, 404], 'GET', path);
      }
      await who.refused([403], 'POST', nodes, { body: named('taken') });
    }
  });
});
