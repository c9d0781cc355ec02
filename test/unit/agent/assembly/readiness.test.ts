import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readiness } from '../../../../src/agent/assembly/readiness.ts';
import type { ServingCredentials } from '../../../../src/agent/identity/index.ts';
import { createLatest } from '../../../../src/base/index.ts';
import type { ClientOptions } from '../../../../src/client/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const client: ClientOptions = { server: 'https://192.0.2.1:6443', ca: '' };
const pair: ServingCredentials = { pair: { cert: '', key: '' }, clientCa: '' };

function start({ withApi = true, withServer = true } = {}) {
  const clock = createManualClock();
  const api = createLatest<ClientOptions>();
  const serving = createLatest<ServingCredentials>();
  const state = { waitsFor: undefined as string | undefined, isReady: false };
  const told: string[] = [];
  const notified: string[] = [];
  const service = readiness({
    credentials: { waitsFor: () => state.waitsFor, ...(withApi ? { api } : {}) },
    serving: withServer ? serving : undefined,
    manager: { waiting: (what) => void notified.push(what) },
    onWaiting: (what) => void told.push(what),
    dependsOn: [],
    clock,
  });
  const stop = new AbortController();
  const ended = service.run(stop.signal, () => {
    state.isReady = true;
  });
  return {
    ...{ clock, api, serving, state, told, notified },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

describe('ready means ready', () => {
  test('it waits for credentials and says what for, each thing once', async () => {
    await using node = start();
    await node.clock.advance(1500);
    node.state.waitsFor = 'the request csr-1 waits for approval';
    await node.clock.advance(30_000);
    assert.equal(node.state.isReady, false);
    assert.deepEqual(node.told, ['its certificates have been asked for', node.state.waitsFor]);
    assert.ok(node.notified.length > 20, 'systemd is told again and again');
    node.api.set(client);
    await node.clock.advance(2000);
    assert.equal(node.state.isReady, false, 'the server cannot complete handshakes yet');
    node.serving.set(pair);
    await node.clock.advance(0);
    assert.equal(node.state.isReady, true);
  });

  test('another request for the same certificate is not told again, another reason is', async () => {
    await using node = start();
    const said = (name: string, why: string) =>
      `the request ${name} for its client certificate ${why}: approve ${name}`;
    const first = said('csr-x7k2p', 'was refused');
    node.state.waitsFor = first;
    await node.clock.advance(3000);
    const second = said('csr-9qv4d', 'was refused');
    node.state.waitsFor = second;
    await node.clock.advance(3000);
    assert.deepEqual(node.told, [first]);
    assert.equal(node.notified.at(-1), second, 'systemd is told the request that there is now');
    const other = said('csr-9qv4d', 'waits for approval');
    node.state.waitsFor = other;
    await node.clock.advance(3000);
    assert.deepEqual(node.told, [first, other]);
  });

  test('with the certificates of an earlier start it is ready at once, whoever can be reached', async () => {
    const node = start();
    node.api.set(client);
    node.serving.set(pair);
    await node.clock.advance(0);
    assert.equal(node.state.isReady, true);
    assert.deepEqual([node.told, node.notified], [[], []]);
    await node[Symbol.asyncDispose]();
  });

  test('what is not there is not waited for: a control plane, a server', async () => {
    await using neither = start({ withApi: false, withServer: false });
    await neither.clock.advance(0);
    assert.equal(neither.state.isReady, true);
    await using alone = start({ withApi: false });
    alone.serving.set(pair);
    await alone.clock.advance(0);
    assert.equal(alone.state.isReady, true);
  });
});
