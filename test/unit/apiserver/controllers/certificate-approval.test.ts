import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { bearing, bootstrapSecret, bootstrapSecrets } from '../support/bootstrap.ts';
import type { TestServer } from '../support/index.ts';
import { csrs, objectIn, signingRequest, startServer } from '../support/index.ts';

const token = 'joiner.0123456789abcdef';
const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';

interface Status {
  certificate?: string;
  conditions?: { type: string; message: string }[];
}

async function statusOf(server: TestServer, name: string | undefined): Promise<Status> {
  const { status } = await server.admin.must('GET', `${csrs}/${name}`);
  return { ...status };
}

async function answered(server: TestServer, name: string | undefined): Promise<Status> {
  return await waitFor('an answer', async () => {
    const status = await statusOf(server, name);
    const isOver = status.conditions?.some(({ type }) => type !== 'Approved');
    return status.certificate || isOver ? status : undefined;
  });
}

/** Once this is answered, the signer has looked at everything that was asked for before. */
async function laterRequest(server: TestServer): Promise<void> {
  const { metadata } = await server.admin.must('POST', csrs, await signingRequest('later'));
  await answered(server, metadata.name);
}

function subjectOf({ certificate = '' }: Status): string {
  return new X509Certificate(Buffer.from(certificate, 'base64')).subject;
}

async function join(server: TestServer, body: object): Promise<string | undefined> {
  const reply = await server.nobody.request('POST', csrs, { ...bearing(token), body });
  assert.equal(reply.code, 201, reply.text);
  return objectIn(reply).metadata.name;
}

describe('client certificates of nodes', () => {
  test('are for whoever joins with a bootstrap token, and renewed by the node itself', async () => {
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    const status = await answered(server, await join(server, await signingRequest('a')));
    assert.equal(status.conditions?.[0]?.type, 'Approved');
    assert.match(subjectOf(status), /CN=system:node:a$/m);
    const node = await server.node('a');
    const renewal = await node.must('POST', csrs, await signingRequest('a'));
    assert.match(subjectOf(await answered(server, renewal.metadata.name)), /O=system:nodes/);
  });

  test('say why there is none where more is asked for than a node may have', async () => {
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    const name = await join(server, await signingRequest('a', { addresses: ['192.0.2.1'] }));
    const { conditions } = await answered(server, name);
    assert.equal(conditions?.[0]?.type, 'Denied');
    assert.match(conditions?.[0]?.message ?? '', /a client certificate has no names/);
  });

  test('wait for a person where no role says otherwise, and are signed once one approves', async () => {
    await using server = await startServer();
    await server.admin.must('POST', clusterRoles, {
      metadata: { name: 'asker' },
      rules: [
        { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] },
      ],
    });
    await server.admin.must('POST', bindings, {
      metadata: { name: 'asker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asker' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'stranger' }],
    });
    const made = await server.stranger.must('POST', csrs, await signingRequest('b'));
    const path = `${csrs}/${made.metadata.name}`;
    await laterRequest(server);
    assert.deepEqual(await statusOf(server, made.metadata.name), {});
    const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand', message: 'it is ours' }];
    await server.admin.must('PUT', `${path}/approval`, { ...made, status: { conditions } });
    assert.match(subjectOf(await answered(server, made.metadata.name)), /CN=system:node:b$/m);
  });

  test('are not for whoever joins when the role has been taken away', async () => {
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    const role = 'system:certificates.k8s.io:certificatesigningrequests:nodeclient';
    await server.admin.must('DELETE', `${bindings}/${role}`);
    const name = await join(server, await signingRequest('a'));
    await laterRequest(server);
    assert.deepEqual(await statusOf(server, name), {});
  });

  test('for serving are not for those who join: they have no address yet', async () => {
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    const serving = {
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
    };
    const name = await join(server, await signingRequest('a', { spec: serving, addresses: ['192.0.2.1'] }));
    await laterRequest(server);
    assert.deepEqual(await statusOf(server, name), {});
  });
});
