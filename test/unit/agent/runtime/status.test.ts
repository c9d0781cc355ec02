import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { RuntimeConditionSchema, RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import type { RuntimeStatus } from '../../../../src/agent/runtime/index.ts';
import { connectRuntime } from '../../../../src/agent/runtime/index.ts';
import { fromConditions } from '../../../../src/agent/runtime/status.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { never, refusal, startFakeRuntime } from './fake-runtime.ts';

const { method } = RuntimeService;
const quick = { log: silentLogger(), statusIntervalMs: 20, statusTimeoutMs: 100 };

describe('status of the container runtime', () => {
  test('is known soon after the start, and every change is told', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    await using runtime = connectRuntime({ ...quick, endpoint: fake.endpoint });
    assert.equal(runtime.status().reason, 'RuntimeStarting');
    const told: RuntimeStatus[] = [];
    using _listener = runtime.onStatusChange((now) => told.push(now));
    await waitFor('the runtime to be ready', () => runtime.status().ready);
    const { endpoint } = fake;
    const fine = { ready: true, networkReady: true, reason: '', message: '' };
    assert.deepEqual(runtime.status(), { ...fine, name: 'containerd', version: '2.1.9', endpoint });

    await fake.kill();
    await waitFor('the loss to be noticed', () => !runtime.status().ready);
    assert.equal(runtime.status().reason, 'RuntimeUnavailable');
    assert.equal(runtime.status().name, 'containerd', 'the last known is kept');
    await fake.start();
    await waitFor('the runtime to be back', () => runtime.status().ready);
    const changes = told.map(({ ready }) => ready);
    const fromReady = changes.slice(changes.indexOf(true)); // on a busy machine its first look may come to nothing
    assert.deepEqual(fromReady.slice(0, 2), [true, false]);
    assert.equal(fromReady.at(-1), true);
  });

  test('a listener that is disposed of hears nothing more', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    await using runtime = connectRuntime({ ...quick, endpoint: fake.endpoint });
    let heard = 0;
    const listener = runtime.onStatusChange(() => {
      heard += 1;
    });
    await waitFor('the first status', () => heard === 1);
    listener[Symbol.dispose]();
    await fake.kill();
    await waitFor('the loss to be noticed', () => !runtime.status().ready);
    assert.equal(heard, 1);
  });

  test('a runtime that hangs is not ready, and its end is not waited for', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    await using runtime = connectRuntime({ ...quick, endpoint: fake.endpoint });
    await waitFor('the runtime to be ready', () => runtime.status().ready);
    fake.on(method.status, never);
    await waitFor('the hang to be noticed', () => runtime.status().reason === 'RuntimeTimeout');
    const slow = connectRuntime({ ...quick, statusTimeoutMs: 60_000, endpoint: fake.endpoint });
    const asked = slow.refresh();
    await slow[Symbol.asyncDispose]();
    assert.equal((await asked).reason, 'RuntimeStarting');
  });

  test('an error is shown as it is', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    fake.on(method.version, () => {
      throw refusal(status.INTERNAL, 'database is locked');
    });
    await using runtime = connectRuntime({ ...quick, endpoint: fake.endpoint });
    const { ready, reason, message } = await runtime.refresh();
    assert.deepEqual(
      { ready, reason, message },
      {
        ready: false,
        reason: 'RuntimeFailed',
        message: 'database is locked',
      },
    );
  });

  test('an absent runtime is waited for', async () => {
    await using folder = await temporaryFolder();
    const socket = join(folder.path, 's');
    await using runtime = connectRuntime({ ...quick, defaults: [`unix://${socket}`, 'unix:///nowhere/x'] });
    await waitFor('the first look', () => runtime.status().reason === 'RuntimeUnavailable');
    assert.match(runtime.status().message, /no container runtime found/);
    await using _fake = await startFakeRuntime(socket);
    await waitFor('the runtime to be ready', () => runtime.status().ready);
  });

  test('a malformed endpoint is an error at once', () => {
    assert.throws(() => connectRuntime({ ...quick, endpoint: 'tcp://1.2.3.4:5' }), /not supported/);
  });

  test('may be closed twice', async () => {
    const runtime = connectRuntime({ ...quick, endpoint: 'unix:///nowhere/x.sock' });
    await runtime[Symbol.asyncDispose]();
    await runtime[Symbol.asyncDispose]();
    await assert.rejects(runtime.find('a', 'b', 'c'), { reason: 'unavailable' });
  });
});

describe('conditions', () => {
  const condition = (type: string, ok: boolean, reason = '', message = '') =>
    create(RuntimeConditionSchema, { type, status: ok, reason, message });

  test('the first that is not true gives the reason', () => {
    const network = condition('NetworkReady', false, 'NetworkPluginNotReady', 'cni plugin not initialized');
    assert.deepEqual(fromConditions([condition('RuntimeReady', true), network]), {
      ready: true,
      networkReady: false,
      reason: 'NetworkPluginNotReady',
      message: 'NetworkReady: cni plugin not initialized',
    });
    assert.equal(fromConditions([condition('RuntimeReady', false), network]).reason, 'RuntimeReadyFalse');
  });

  test('what the runtime does not mention is not true', () => {
    assert.deepEqual(fromConditions([]), {
      ready: false,
      networkReady: false,
      reason: 'RuntimeReadyUnknown',
      message: 'RuntimeReady: the runtime does not say; NetworkReady: the runtime does not say',
    });
  });
});
