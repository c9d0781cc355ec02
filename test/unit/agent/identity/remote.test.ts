import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { RemoteIdentityOptions } from '../../../../src/agent/identity/index.ts';
import { remoteIdentity } from '../../../../src/agent/identity/index.ts';
import type { ApiObject, CertificateSigningRequest, Kind } from '../../../../src/api/index.ts';
import { StatusError } from '../../../../src/api/index.ts';
import { createLatest } from '../../../../src/base/index.ts';
import type { ClientOptions } from '../../../../src/client/index.ts';
import { ConnectionError } from '../../../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { createTestAuthority, dayMs } from './pki.ts';

const start = createManualClock().now();
const authority = await createTestAuthority('cluster', start);
const client = { server: 'https://192.0.2.100:6443', ca: authority.ca, cert: 'cert', key: 'key' };

type Answer = CertificateSigningRequest['status'] | Error;

/** A certificates API whose answers to a look at a request are what `next` says; it signs by default. */
function certificatesApi(next: (look: number, csrPem: string) => Answer | Promise<Answer>) {
  const created: CertificateSigningRequest[] = [];
  const failing: { create: Error | undefined } = { create: undefined };
  let looks = 0;
  const isKind = <T extends ApiObject>(kind: Kind<T>, object: ApiObject): object is T =>
    kind.kind === 'CertificateSigningRequest' && object !== undefined;
  const api: ReturnType<RemoteIdentityOptions['open']> = {
    [Symbol.asyncDispose]: async () => undefined,
    async create(kind, object) {
      if (failing.create) throw failing.create;
      const stored = { ...object, metadata: { name: `csr-${created.length}` } };
      created.push(stored as unknown as CertificateSigningRequest); // this API holds nothing else
      assert.ok(isKind(kind, stored));
      return stored;
    },
    async get(kind, name) {
      const request = created.find(({ metadata }) => metadata?.name === name);
      if (request === undefined) throw new StatusError('NotFound', `${name} not found`);
      const csrPem = Buffer.from(request.spec.request, 'base64').toString('utf8');
      const answer = await next(looks++, csrPem);
      if (answer instanceof Error) throw answer;
      const stored = { ...request, ...(answer === undefined ? {} : { status: answer }) };
      assert.ok(isKind(kind, stored));
      return stored;
    },
  };
  return { api, created, failing };
}

const signed = async (csrPem: string): Promise<Answer> => ({
  conditions: [{ type: 'Approved', status: 'True' }],
  certificate: Buffer.from(await authority.sign(csrPem, 'server', { now: start })).toString('base64'),
});

function run(certDir: string, { api }: Pick<ReturnType<typeof certificatesApi>, 'api'>) {
  const clock = createManualClock();
  const stop = new AbortController();
  const { log, text } = recordedLog();
  const credentials = createLatest<ClientOptions>();
  credentials.set(client);
  const identity = remoteIdentity({
    nodeName: 'node-a',
    certDir,
    addresses: () => ['192.0.2.1'],
    credentials,
    open: () => api,
    dependsOn: [],
    clock,
    log,
  });
  let isReady = false;
  const ended = identity.run(stop.signal, () => {
    isReady = true;
  });
  return {
    identity,
    credentials,
    ready: () => waitFor('it to be ready', () => isReady),
    clock,
    log: text,
    until: (what: string, condition: () => boolean, stepMs = 1000) =>
      waitFor(what, async () => {
        await clock.advance(stepMs);
        return condition();
      }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

describe('a remote identity', () => {
  test('has its client credentials at once, and the serving certificate once it is signed', async () => {
    await using folder = await temporaryFolder();
    const control = certificatesApi((look, csrPem) => (look < 3 ? undefined : signed(csrPem)));
    await using running = run(folder.path, control);
    assert.equal(running.identity.api.value, client);
    await running.until('the certificate', () => running.identity.serving.value !== undefined);
    const [request] = control.created;
    assert.equal(control.created.length, 1);
    assert.equal(request?.spec.signerName, 'kubernetes.io/kubelet-serving');
    assert.deepEqual(request?.spec.usages, ['digital signature', 'server auth']);
    assert.equal(running.identity.serving.value?.clientCa, authority.ca);
    assert.deepEqual((await readdir(folder.path)).sort(), ['nodeward-serving.crt', 'nodeward-serving.key']);
    assert.match(running.log(), /waiting for the serving certificate/);
  });

  test('tells once why its request waits, where the control plane says so', async () => {
    await using folder = await temporaryFolder();
    const conditions = [{ type: 'Waiting', status: 'True', message: 'node a renews its Lease' }];
    const control = certificatesApi((look, csrPem) => (look < 4 ? { conditions } : signed(csrPem)));
    await using running = run(folder.path, control);
    await running.until('the certificate', () => running.identity.serving.value !== undefined);
    assert.equal(running.log().match(/not signed yet: node a renews its Lease/g)?.length, 1);
  });

  test('is ready, and serves with the certificate of an earlier run, while nobody answers', async () => {
    await using folder = await temporaryFolder();
    const control = certificatesApi((_look, csrPem) => signed(csrPem));
    {
      await using running = run(folder.path, control);
      await running.until('the certificate', () => running.identity.serving.value !== undefined);
    }
    control.failing.create = new ConnectionError('refused', 'nobody there');
    await using running = run(folder.path, control);
    await running.clock.advance(25 * dayMs); // less is left than it is renewed with
    await running.ready();
    assert.ok(running.identity.serving.value);
  });

  test('is ready without any certificate, and says what that means for its port', async () => {
    await using folder = await temporaryFolder();
    const control = certificatesApi(() => undefined);
    control.failing.create = new ConnectionError('refused', 'nobody there');
    await using running = run(folder.path, control);
    await running.ready();
    assert.equal(running.identity.serving.value, undefined);
    assert.match(running.log(), /no serving certificate for now: there is none yet; until the control plane/);
  });

  test('looks again at once when the credentials change', async () => {
    await using folder = await temporaryFolder();
    const control = certificatesApi((_look, csrPem) => signed(csrPem));
    await using running = run(folder.path, control);
    await running.until('the certificate', () => running.identity.serving.value !== undefined);
    const other = await createTestAuthority('another', start);
    running.credentials.set({ ...client, ca: other.ca });
    await running.until('a request', () => control.created.length === 2, 1);
  });

  test('does not ask again at the next start', async () => {
    await using folder = await temporaryFolder();
    const control = certificatesApi((_look, csrPem) => signed(csrPem));
    for (const _start of [1, 2]) {
      await using running = run(folder.path, control);
      await running.until('the certificate', () => running.identity.serving.value !== undefined);
    }
    assert.equal(control.created.length, 1);
  });

  test('lives through outages while it waits, with one request', async () => {
    await using folder = await temporaryFolder();
    const outages = [
      new ConnectionError('refused', 'nothing listens there'),
      new StatusError('ServiceUnavailable', 'starting'),
      new StatusError('TooManyRequests', 'later'),
    ];
    const control = certificatesApi((look, csrPem) => outages[look] ?? signed(csrPem));
    await using running = run(folder.path, control);
    await running.until('the certificate', () => running.identity.serving.value !== undefined);
    assert.equal(control.created.length, 1);
  });

  test('asks when the control plane comes back', async () => {
    await using folder = await temporaryFolder();
    const control = certificatesApi((_look, csrPem) => signed(csrPem));
    control.failing.create = new ConnectionError('refused', 'https://192.0.2.100:6443 refuses connections');
    await using running = run(folder.path, control);
    await running.until('a failure', () => /no certificate for now: .* refuses/.test(running.log()));
    control.failing.create = undefined;
    await running.until('the certificate', () => running.identity.serving.value !== undefined);
  });

  test('says why it is refused, and asks more and more seldom', async () => {
    await using folder = await temporaryFolder();
    const conditions = [{ type: 'Denied', status: 'True', message: 'node-a is not known' }];
    const control = certificatesApi(() => ({ conditions }));
    await using running = run(folder.path, control);
    await running.until('a refusal', () => running.log().includes('was refused: node-a is not known'));
    const beginMs = running.clock.monotonicMs();
    await running.until('ten requests', () => control.created.length === 10, 10_000);
    const seconds = (running.clock.monotonicMs() - beginMs) / 1000;
    assert.ok(seconds > 400, `ten requests within ${seconds} s`);
    assert.equal(running.identity.serving.value, undefined);
  });

  test('gives up a request that nobody answers, says what to do, and makes another', async () => {
    await using folder = await temporaryFolder();
    const control = certificatesApi(() => undefined);
    await using running = run(folder.path, control);
    await running.until('a second request', () => control.created.length === 2, 60_000);
    assert.match(
      running.log(),
      /nobody has answered the certificate request csr-0; .*kubectl certificate approve/,
    );
  });

  test('makes another request where the first one has vanished', async () => {
    await using folder = await temporaryFolder();
    const control = certificatesApi((look, csrPem) =>
      look === 0 ? new StatusError('NotFound', 'csr-0 not found') : signed(csrPem),
    );
    await using running = run(folder.path, control);
    await running.until('the certificate', () => running.identity.serving.value !== undefined);
    assert.equal(control.created.length, 2);
  });

  test('does not take a certificate of somebody else', async () => {
    await using folder = await temporaryFolder();
    const foreign = await createTestAuthority('foreign', start);
    const control = certificatesApi(async (_look, csrPem) => ({
      certificate: Buffer.from(await foreign.sign(csrPem, 'server', { now: start })).toString('base64'),
    }));
    await using running = run(folder.path, control);
    await running.until('the error', () => running.log().includes('issued by another authority'));
    assert.equal(running.identity.serving.value, undefined);
  });
});
