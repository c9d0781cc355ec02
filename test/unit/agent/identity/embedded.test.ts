import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { embeddedIdentity } from '../../../../src/agent/identity/index.ts';
import { createLatest, silentLogger } from '../../../../src/base/index.ts';
import type { ReadyMessage, SignMessage } from '../../../../src/client/embedded/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import type { TestAuthority } from './pki.ts';
import { createTestAuthority, dayMs } from './pki.ts';

const start = createManualClock().now();
const authority = await createTestAuthority('cluster', start);
const place = (by: TestAuthority, port = 6443): ReadyMessage => ({
  type: 'ready',
  url: `https://127.0.0.1:${port}`,
  ca: by.ca,
  kubeconfig: '/root/admin.kubeconfig',
});

/** An agent's identity beside a control plane that the test plays. */
function run(certDir: string) {
  const clock = createManualClock();
  const stop = new AbortController();
  const connection = createLatest<ReadyMessage>();
  const node = { addresses: ['192.0.2.1'], asked: [] as Omit<SignMessage, 'type' | 'id' | 'csrPem'>[] };
  const control = { by: authority, refuses: false };
  const identity = embeddedIdentity({
    nodeName: 'node-a',
    certDir,
    addresses: () => node.addresses,
    controlPlane: {
      connection,
      async sign({ csrPem, ...request }) {
        node.asked.push(request);
        if (control.refuses) throw new Error('the control plane is not running');
        return await control.by.sign(csrPem, request.usage === 'client' ? 'client' : 'server', {
          now: clock.now(),
        });
      },
    },
    clock,
    log: silentLogger(),
  });
  let isReady = false;
  const ended = identity.run(stop.signal, () => {
    isReady = true;
  });
  return {
    identity,
    clock,
    connection,
    node,
    control,
    usages: () => node.asked.map(({ usage }) => usage),
    get isReady() {
      return isReady;
    },
    ready: () => waitFor('the identity', () => isReady),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

/** Lets hours pass, after each of which it looks again, until `condition` holds; what it does then takes real time. */
const hoursUntil = (running: ReturnType<typeof run>, what: string, condition: () => boolean) =>
  waitFor(what, async () => {
    await running.clock.advance(3600_000);
    return condition();
  });

describe('an embedded identity', () => {
  test('waits for the control plane, then has both certificates signed', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    await running.clock.advance(60_000);
    assert.equal(running.isReady, false);
    running.connection.set(place(authority));
    await running.ready();
    const { api, serving } = running.identity;
    assert.equal(api.value?.server, 'https://127.0.0.1:6443');
    assert.equal(api.value?.ca, authority.ca);
    assert.equal(serving.value?.clientCa, authority.ca);
    const addresses = ['192.0.2.1', 'localhost', '127.0.0.1', '::1'];
    assert.deepEqual(running.node.asked, [
      { node: 'node-a', usage: 'client', addresses: [] },
      { node: 'node-a', usage: 'serving', addresses },
    ]);
    assert.deepEqual((await readdir(folder.path)).sort(), [
      ...['nodeward-client.crt', 'nodeward-client.key'],
      ...['nodeward-serving.crt', 'nodeward-serving.key'],
    ]);
  });

  test('of a second start needs no signature', async () => {
    await using folder = await temporaryFolder();
    for (const expected of [2, 0]) {
      await using running = run(folder.path);
      running.connection.set(place(authority));
      await running.ready();
      assert.equal(running.node.asked.length, expected);
    }
  });

  test('is tried again until the control plane signs', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    running.control.refuses = true;
    running.connection.set(place(authority));
    await waitFor('a refusal', () => running.node.asked.length > 0);
    running.control.refuses = false;
    await waitFor('the identity', async () => {
      await running.clock.advance(1000);
      return running.isReady;
    });
  });

  test('is renewed when a third of its life is left, and those who use it are told', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    running.connection.set(place(authority));
    await running.ready();
    const renewedAfterDays: number[] = [];
    const changes: string[] = [];
    running.identity.api.onChange(() => changes.push('api'));
    running.identity.serving.onChange(() => {
      changes.push('serving');
      renewedAfterDays.push((running.clock.now() - start) / dayMs);
    });
    running.clock.setWall(19 * dayMs);
    await hoursUntil(running, 'the renewal', () => changes.length === 2);
    const [days = 0] = renewedAfterDays;
    assert.ok(days > 19.9 && days < 22, `renewed after ${days} of 30 days`);
    const [first, second, ...renewed] = running.usages();
    assert.deepEqual([first, second], ['client', 'serving']);
    // in either order: the test's hours pass in the middle of a look, too, between one certificate and the other
    assert.deepEqual(renewed.sort(), ['client', 'serving']);
    assert.deepEqual(changes.sort(), ['api', 'serving']);
  });

  test('follows the addresses of the node', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    running.connection.set(place(authority));
    await running.ready();
    running.node.addresses = ['192.0.2.7'];
    await hoursUntil(running, 'a new serving certificate', () => running.node.asked.length === 3);
    assert.equal(running.node.asked[2]?.addresses[0], '192.0.2.7');
  });

  test('follows a control plane that comes back on another port, without a new certificate', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    running.connection.set(place(authority));
    await running.ready();
    running.connection.set(place(authority, 7443));
    await waitFor('the new port', () => running.identity.api.value?.server.endsWith(':7443'));
    running.connection.set(place(authority, 7443));
    await running.clock.advance(0);
    assert.equal(running.node.asked.length, 2);
  });

  test('is new where the control plane comes back with another authority', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    running.connection.set(place(authority));
    await running.ready();
    running.control.by = await createTestAuthority('cluster', start);
    running.connection.set(place(running.control.by));
    await waitFor(
      'the new authority',
      () => running.identity.serving.value?.clientCa === running.control.by.ca,
    );
    assert.equal(running.identity.api.value?.ca, running.control.by.ca);
    assert.equal(running.node.asked.length, 4);
  });
});
