import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { joinedIdentity } from '../../../../src/agent/identity/index.ts';
import { nodeKind } from '../../../../src/api/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { bootstrapSecret, bootstrapSecrets } from '../../apiserver/support/bootstrap.ts';
import type { TestServer } from '../../apiserver/support/index.ts';
import { csrs, startServer } from '../../apiserver/support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

const token = 'joiner.0123456789abcdef';

function run(server: TestServer, folder: string, clock = systemClock) {
  const stop = new AbortController();
  const { log, text } = recordedLog();
  const kubeconfig = join(folder, 'node.kubeconfig');
  const identity = joinedIdentity({
    nodeName: 'node-a',
    certDir: folder,
    addresses: () => ['192.0.2.1'],
    bootstrap: { server: server.running.url, ca: server.running.ca, token },
    kubeconfig,
    dependsOn: [],
    clock,
    log,
  });
  const ended = identity.run(stop.signal, () => undefined);
  return {
    identity,
    kubeconfig,
    log: text,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

async function joined(server: TestServer, folder: string): Promise<void> {
  await using running = run(server, folder);
  await waitFor('the credentials', () => running.identity.api.value);
}

const requests = async (server: TestServer) =>
  (await server.admin.list(csrs)).filter(({ spec }) => !String(spec?.['signerName']).endsWith('serving'));

describe('an agent that joins with a token', () => {
  test('becomes its node by a certificate of its own, also for serving once its addresses are known', async () => {
    await using server = await startServer();
    await using folder = await temporaryFolder();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    await using running = run(server, folder.path);
    const options = await running.identity.api.get();
    assert.equal(options.token, undefined);
    assert.match(new X509Certificate(options.cert ?? '').subject, /CN=system:node:node-a/);
    await using client = new ApiClient(options);
    await client.create(nodeKind, { metadata: { name: 'node-a' } });
    const node = await client.get(nodeKind, 'node-a');
    const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }];
    await client.replace(nodeKind, { ...node, status: { addresses } }, { subresource: 'status' });
    const { pair } = await running.identity.serving.get();
    assert.match(new X509Certificate(pair.cert).subjectAltName ?? '', /192\.0\.2\.1/);
    assert.doesNotMatch(running.log(), /0123456789abcdef/);
  });

  test('leaves a kubeconfig with which the API knows it as that node', async () => {
    await using server = await startServer();
    await using folder = await temporaryFolder();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    await joined(server, folder.path);
    const path = join(folder.path, 'node.kubeconfig');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await using client = new ApiClient(clientOptionsOf(await readKubeconfig(path)));
    const made = await client.create(nodeKind, { metadata: { name: 'node-a' } });
    assert.equal(made.metadata?.name, 'node-a');
  });

  test('needs the token once: later starts ask for nothing, though it is gone', async () => {
    await using server = await startServer();
    await using folder = await temporaryFolder();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    await joined(server, folder.path);
    await server.admin.must('DELETE', `${bootstrapSecrets}/bootstrap-token-joiner`);
    await joined(server, folder.path);
    assert.equal((await requests(server)).length, 1);
  });

  test('renews its certificate by itself, with the certificate and not the token', async () => {
    await using server = await startServer();
    await using folder = await temporaryFolder();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    await joined(server, folder.path);
    await server.admin.must('DELETE', `${bootstrapSecrets}/bootstrap-token-joiner`);
    const tenMonthsMs = 300 * 24 * 3600_000;
    const later = { ...systemClock, now: () => systemClock.now() + tenMonthsMs };
    await using running = run(server, folder.path, later);
    await waitFor('a second request', async () => (await requests(server)).length === 2 || undefined);
    const asked = (await requests(server)).map(({ spec }) => spec?.['username']);
    assert.deepEqual(asked.sort(), ['system:bootstrap:joiner', 'system:node:node-a']);
    assert.match(running.log(), /asking for a certificate/);
  });

  test('is told why when its token is not known, and asks again', async () => {
    await using server = await startServer();
    await using folder = await temporaryFolder();
    await using running = run(server, folder.path);
    const told =
      /no certificate for now: the control plane does not know the credentials in the bootstrap kubeconfig/;
    await waitFor('a failure', () => told.test(running.log()) || undefined);
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    await waitFor('the credentials', () => running.identity.api.value);
    await rm(running.kubeconfig);
  });

  test('with a certificate that is to be renewed it has credentials at once, though the control plane is away', async () => {
    await using folder = await temporaryFolder();
    await using server = await startServer();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('joiner', token.slice(7)));
    await joined(server, folder.path);
    const tenMonthsMs = 300 * 24 * 3600_000;
    const later = { ...systemClock, now: () => systemClock.now() + tenMonthsMs };
    await server.stop();
    await using running = run(server, folder.path, later);
    const options = await running.identity.api.get();
    assert.match(new X509Certificate(options.cert ?? '').subject, /CN=system:node:node-a/);
    await waitFor('what it waits for', () =>
      /no certificate for now/.test(running.identity.waitsFor?.() ?? ''),
    );
  });
});
