import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { systemClock } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import { bearing, bootstrapSecret, bootstrapSecrets } from '../support/bootstrap.ts';
import type { TestServer } from '../support/index.ts';
import {
  csrs,
  lease,
  leases,
  named,
  nodes,
  objectIn,
  signingRequest,
  startServer,
} from '../support/index.ts';

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
    const isOver = status.conditions?.some(({ type }) => type === 'Denied' || type === 'Failed');
    return status.certificate || isOver ? status : undefined;
  });
}

/** Once this is answered, the signer has looked at everything that was asked for before. */
async function laterRequest(server: TestServer): Promise<void> {
  const { metadata } = await server.admin.must('POST', csrs, await signingRequest('later'));
  await answered(server, metadata.name);
}

/** The condition that says why a request waits. */
async function waiting(server: TestServer, name: string | undefined): Promise<{ message: string }> {
  return await waitFor('it to be told why it waits', async () => {
    const { certificate, conditions = [] } = await statusOf(server, name);
    assert.equal(certificate, undefined);
    return conditions.find(({ type }) => type === 'Waiting');
  });
}

/** A Lease as a node writes it whose clock stands in the year 2001. */
function renewed(name: string, second: string, more: object = {}) {
  const { metadata, spec } = lease(name, more);
  return { metadata, spec: { ...spec, renewTime: `2001-01-01T00:00:${second}.000000Z` } };
}

/** The system's clock, for which time passes in jumps too; sleepers sleep on. */
function jumpingClock() {
  return {
    ...systemClock,
    aheadMs: 0,
    monotonicMs() {
      return systemClock.monotonicMs() + this.aheadMs;
    },
  };
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

  test('are not for whoever joins under the name of a node that renews its Lease, until it is silent', async () => {
    const clock = jumpingClock();
    await using server = await startServer({ clock });
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    const node = await server.node('a');
    const made = await node.must('POST', leases('kube-node-lease'), renewed('a', '00'));
    const name = await join(server, await signingRequest('a'));
    const { message } = await waiting(server, name);
    assert.match(message, /^node a renews its Lease: .*approved by hand/);
    clock.aheadMs += 39_000;
    const path = `${leases('kube-node-lease')}/a`;
    await node.must('PUT', path, renewed('a', '39', made.metadata));
    clock.aheadMs += 39_000; // 78 s after it was made, 39 s after it was renewed
    await laterRequest(server);
    assert.equal((await waiting(server, name)).message, message);
    clock.aheadMs += 2_000;
    const status = await answered(server, name);
    assert.match(subjectOf(status), /CN=system:node:a$/m);
    assert.deepEqual(
      status.conditions?.map(({ type }) => type),
      ['Approved'],
    );
  });

  test('go by the server’s clock: what a Lease says of the time is nobody’s proof', async () => {
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    const node = await server.node('a');
    await node.must('POST', leases('kube-node-lease'), renewed('a', '00')); // a time long past
    await waiting(server, await join(server, await signingRequest('a')));
  });

  test('wait for a node without a Lease that tells its status, and a person may approve them all the same', async () => {
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    const node = await server.node('a');
    const conditions = [{ type: 'Ready', status: 'True' }];
    await node.must('POST', nodes, { ...named('a'), status: { conditions } });
    const name = await join(server, await signingRequest('a'));
    assert.match((await waiting(server, name)).message, /^node a tells its status/);
    const found = await server.admin.must('GET', `${csrs}/${name}`);
    const approval = { type: 'Approved', status: 'True', reason: 'ByHand', message: 'it is ours' };
    const status = {
      ...found.status,
      conditions: [...((await statusOf(server, name)).conditions ?? []), approval],
    };
    await server.admin.must('PUT', `${csrs}/${name}/approval`, { ...found, status });
    assert.match(subjectOf(await answered(server, name)), /CN=system:node:a$/m);
  });

  test('are for a node that somebody else has made and that was never heard', async () => {
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    await server.admin.must('POST', nodes, named('a'));
    await answered(server, await join(server, await signingRequest('a')));
  });

  test('are for the nodes that the token names alone', async () => {
    await using server = await startServer();
    const names = { 'node-names': 'a, b' };
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7), names));
    assert.ok((await answered(server, await join(server, await signingRequest('b')))).certificate);
    const { conditions } = await answered(server, await join(server, await signingRequest('c')));
    assert.equal(conditions?.[0]?.type, 'Denied');
    assert.match(conditions?.[0]?.message ?? '', /the bootstrap token is not for node c but for a, b/);
  });

  test('are not for whoever joins under a name of the API, unless the token says so', async () => {
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    for (const name of ['localhost', 'kubernetes', 'kubernetes.default.svc', 'kubernetes.default.svc.x.y']) {
      const { conditions } = await answered(server, await join(server, await signingRequest(name)));
      assert.equal(conditions?.[0]?.type, 'Denied', name);
      assert.match(conditions?.[0]?.message ?? '', /is a name of the control plane itself/);
    }
    await server.admin.must('DELETE', `${bootstrapSecrets}/bootstrap-token-joiner`);
    const names = { 'node-names': 'localhost' };
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7), names));
    assert.ok((await answered(server, await join(server, await signingRequest('localhost')))).certificate);
  });

  test('are for nobody with a token that names no node as it should', async () => {
    await using server = await startServer();
    for (const wrong of ['', 'a,', 'A_B']) {
      const secret = bootstrapSecret('joiner', token.slice(7), { 'node-names': wrong });
      await server.admin.must('POST', bootstrapSecrets, secret);
      await server.nobody.refused('Unauthorized', 'GET', nodes, bearing(token));
      await server.admin.must('DELETE', `${bootstrapSecrets}/bootstrap-token-joiner`);
    }
  });
});
