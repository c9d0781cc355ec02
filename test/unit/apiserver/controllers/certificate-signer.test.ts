import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { CertificateSigningRequest } from '../../../../src/api/index.ts';
import {
  certificateSigningRequestKind,
  clientSignerName,
  nodeKind,
  nodeSignerNames,
  StatusError,
  selfSubjectReviewKind,
} from '../../../../src/api/index.ts';
import type { Store } from '../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import type { Subject } from '../../../../src/base/x509/index.ts';
import { alternativeNames, createRequest, generateKeyPem } from '../../../../src/base/x509/index.ts';
import { ApiClient } from '../../../../src/client/index.ts';
import { VeiledStore } from '../../../contract/storage/veiled-store.ts';
import { waitFor } from '../../../support/index.ts';
import type { TestServer } from '../support/index.ts';
import { startServer } from '../support/index.ts';

/** A client as node `name`, whose Node reports `addresses`. */
async function nodeClient(
  server: TestServer,
  name: string,
  addresses: readonly string[],
): Promise<ApiClient> {
  const pair = await server.issue({ commonName: `system:node:${name}`, organizations: ['system:nodes'] });
  const client = new ApiClient({ server: server.running.url, ca: server.running.ca, ...pair });
  await client.create(nodeKind, { metadata: { name } });
  const node = await client.get(nodeKind, name);
  const told = addresses.map((address) => ({ type: 'InternalIP', address }));
  await client.replace(nodeKind, { ...node, status: { addresses: told } }, { subresource: 'status' });
  return client;
}

async function ask(
  client: ApiClient,
  node: string,
  names: readonly string[],
  signerName: string = nodeSignerNames.serving,
) {
  const subject = { commonName: `system:node:${node}`, organizations: ['system:nodes'] };
  const csr = await createRequest(await generateKeyPem(), subject, alternativeNames(names));
  const request: CertificateSigningRequest = {
    metadata: { generateName: 'csr-' },
    spec: {
      request: Buffer.from(csr).toString('base64'),
      signerName,
      usages: ['digital signature', 'server auth'],
    },
  };
  const { metadata } = await client.create(certificateSigningRequestKind, request);
  return await waitFor('the request to be answered', async () => {
    const found = await client.get(certificateSigningRequestKind, metadata?.name ?? '');
    const isRefused = found.status?.conditions?.some(({ type }) => type !== 'Approved');
    return found.status?.certificate || isRefused ? found.status : undefined;
  });
}

function namesIn(status: CertificateSigningRequest['status']): string {
  return new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64')).subjectAltName ?? '';
}

describe('certificates of node agents through the API', () => {
  test('a node gets one for its name and addresses', async () => {
    await using server = await startServer();
    await using client = await nodeClient(server, 'a', ['192.0.2.7']);
    const status = await ask(client, 'a', ['a', '192.0.2.7']);
    assert.equal(status.conditions?.[0]?.type, 'Approved');
    assert.equal(namesIn(status), 'DNS:a, IP Address:192.0.2.7');
  });

  test('none while the addresses of another node cannot be read, and one as soon as they can', async () => {
    const opened: { store?: Store } = {};
    await using server = await startServer({
      wrapStore(store) {
        opened.store = store;
        return new VeiledStore(store);
      },
    });
    await using client = await nodeClient(server, 'a', ['192.0.2.7']);
    const { store } = opened;
    assert.ok(store !== undefined);
    const key = '/registry/nodes/hidden';
    const hidden = await store.commit({ key, expect: 0, value: Buffer.from('?') });
    assert.ok(hidden.ok);
    const answered = ask(client, 'a', ['a', '192.0.2.7']);
    await waitFor('the reason in the log', async () => /nodes\/hidden are not known/.test(server.logged()));
    const removed = await store.commit({ key, expect: hidden.revision, value: null });
    assert.ok(removed.ok);
    assert.equal(namesIn(await answered), 'DNS:a, IP Address:192.0.2.7');
  });

  test('a node that tells its addresses late gets one at once, not when it is tried again', async () => {
    const slow = {
      ...systemClock,
      sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(1000 * ms, signal),
    };
    await using server = await startServer({ clock: slow });
    await using client = await nodeClient(server, 'late', []);
    const answered = ask(client, 'late', ['late', '192.0.2.7']);
    await waitFor('the reason in the log', async () =>
      /late has not told its addresses yet/.test(server.logged()),
    );
    const addresses = [{ type: 'InternalIP', address: '192.0.2.7' }];
    const node = await client.get(nodeKind, 'late');
    await client.replace(nodeKind, { ...node, status: { addresses } }, { subresource: 'status' });
    assert.equal(namesIn(await answered), 'DNS:late, IP Address:192.0.2.7');
  });

  for (const stolen of ['127.0.0.1', 'localhost', 'kubernetes.default.svc', '192.0.2.8', 'b']) {
    test(`a node that says that ${stolen} is its own does not get it`, async () => {
      await using server = await startServer();
      await using _other = await nodeClient(server, 'b', ['192.0.2.8']);
      await using client = await nodeClient(server, 'evil', ['192.0.2.66', stolen]);
      const status = await ask(client, 'evil', ['evil', stolen]);
      assert.equal(status.conditions?.[0]?.type, 'Denied');
      assert.equal(status.certificate, undefined);
      assert.match(
        status.conditions?.[0]?.message ?? '',
        /is not known to be a name or address of node evil/,
      );
    });
  }

  test('a node gets none for the address of another server on the store', async () => {
    await using server = await startServer();
    const annotations = { 'nodeward.io/serving-names': 'api.example,192.0.2.9' };
    const metadata = { name: 'nodeward-apiserver-0123456789abcdef', annotations };
    await server.admin.must('POST', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata,
    });
    await using client = await nodeClient(server, 'a', ['192.0.2.7', '192.0.2.9']);

    assert.equal((await ask(client, 'a', ['a', '192.0.2.9']))?.certificate, undefined);
    assert.match(namesIn(await ask(client, 'a', ['a', '192.0.2.7'])), /192\.0\.2\.7/);
  });

  test('a node whose address another Node has too is told so, and gets it when that is gone', async () => {
    await using server = await startServer();
    await using _old = await nodeClient(server, 'old', ['192.0.2.7']);
    await using client = await nodeClient(server, 'new', ['192.0.2.7']);
    const refused = await ask(client, 'new', ['new', '192.0.2.7']);
    assert.match(
      refused.conditions?.[0]?.message ?? '',
      /^192\.0\.2\.7 is not known to be a name or address of node new alone: node old has 192\.0\.2\.7 too; /,
    );
    await server.admin.must('DELETE', '/api/v1/nodes/old');
    assert.equal(namesIn(await ask(client, 'new', ['new', '192.0.2.7'])), 'DNS:new, IP Address:192.0.2.7');
  });

  test('a node may not ask other signers, whose requests would lie about', async () => {
    await using server = await startServer();
    await using client = await nodeClient(server, 'a', ['192.0.2.7']);
    await assert.rejects(ask(client, 'a', ['a'], 'example.com/other'), (error) => {
      assert.ok(error instanceof StatusError);
      assert.equal(error.reason, 'Forbidden');
      return true;
    });
  });
});

describe('client certificates of users', () => {
  async function administrator(server: TestServer): Promise<ApiClient> {
    const pair = await server.issue({ commonName: 'root', organizations: ['system:masters'] });
    return new ApiClient({ server: server.running.url, ca: server.running.ca, ...pair });
  }

  async function asked(
    admin: ApiClient,
    subject: Subject,
    spec: Partial<CertificateSigningRequest['spec']> = {},
    names: readonly string[] = [],
  ) {
    const key = await generateKeyPem();
    const csr = await createRequest(key, subject, alternativeNames(names));
    const request = Buffer.from(csr).toString('base64');
    const { metadata } = await admin.create(certificateSigningRequestKind, {
      metadata: { generateName: 'user-' },
      spec: { request, signerName: clientSignerName, usages: ['client auth'], ...spec },
    });
    return { key, name: metadata?.name ?? '' };
  }

  /** Approves a request and waits for what comes of it. */
  async function approved(admin: ApiClient, name: string) {
    const request = await admin.get(certificateSigningRequestKind, name);
    const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand' }];
    const next = { ...request, status: { conditions } };
    await admin.replace(certificateSigningRequestKind, next, { subresource: 'approval' });
    return await waitFor('an answer', async () => {
      const { status } = await admin.get(certificateSigningRequestKind, name);
      const isOver = status?.certificate || status?.conditions?.some(({ type }) => type === 'Failed');
      return isOver ? status : undefined;
    });
  }

  test('come when somebody has approved them, and make their holder known', async () => {
    await using server = await startServer();
    await using admin = await administrator(server);
    const jane = { commonName: 'jane', organizations: ['ops', 'dev'] };
    const { key, name } = await asked(admin, jane, { expirationSeconds: 3600 });
    const other = await asked(admin, jane);
    const { certificate = '' } = await approved(admin, name);
    const cert = Buffer.from(certificate, 'base64').toString();
    await using client = new ApiClient({ server: server.running.url, ca: server.running.ca, cert, key });
    const { status } = await client.create(selfSubjectReviewKind, {});
    assert.equal(status?.userInfo?.username, 'jane');
    assert.deepEqual(status?.userInfo?.groups, ['ops', 'dev', 'system:authenticated']);
    const ends = new X509Certificate(cert).validToDate.getTime();
    assert.ok(ends <= Date.now() + 3600_000, String(ends));
    const waiting = await admin.get(certificateSigningRequestKind, other.name);
    assert.equal(waiting.status?.certificate, undefined, 'nobody has approved it');
  });

  type Wrong = [Subject, Partial<CertificateSigningRequest['spec']>, readonly string[], RegExp];
  const jane = { commonName: 'jane', organizations: [] };
  const wrong: Record<string, Wrong> = {
    'no name': [{ commonName: '', organizations: ['ops'] }, {}, [], /no common name/],
    'names of servers': [jane, {}, ['kubernetes'], /has no names/],
    'another use': [jane, { usages: ['client auth', 'server auth'] }, [], /"server auth" is none of/],
  };
  for (const [what, [subject, spec, names, message]] of Object.entries(wrong)) {
    test(`with ${what} fail, although approved`, async () => {
      await using server = await startServer();
      await using admin = await administrator(server);
      const { name } = await asked(admin, subject, spec, names);
      const { certificate, conditions } = await approved(admin, name);
      assert.equal(certificate, undefined);
      assert.match(conditions?.at(-1)?.message ?? '', message);
    });
  }
});
