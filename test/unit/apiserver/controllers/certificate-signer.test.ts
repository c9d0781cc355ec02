import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { CertificateSigningRequest } from '../../../../src/api/index.ts';
import {
  certificateSigningRequestKind,
  nodeKind,
  nodeSignerNames,
  StatusError,
} from '../../../../src/api/index.ts';
import { alternativeNames, createRequest, generateKeyPem } from '../../../../src/base/x509/index.ts';
import { ApiClient } from '../../../../src/client/index.ts';
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

  for (const stolen of ['127.0.0.1', 'localhost', 'kubernetes.default.svc', '192.0.2.8', 'b']) {
    test(`a node that says that ${stolen} is its own does not get it`, async () => {
      await using server = await startServer();
      await using _other = await nodeClient(server, 'b', ['192.0.2.8']);
      await using client = await nodeClient(server, 'evil', ['192.0.2.66', stolen]);
      const status = await ask(client, 'evil', ['evil', stolen]);
      assert.equal(status.conditions?.[0]?.type, 'Denied');
      assert.equal(status.certificate, undefined);
      assert.match(status.conditions?.[0]?.message ?? '', /not known to be names or addresses of node evil/);
    });
  }

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
