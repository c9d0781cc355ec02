import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { limits } from '../../../../../src/agent/plugins/devices/limits.ts';
import { startFakePlugin } from '../../../../support/fake-device-plugin.ts';
import { fastClock } from '../../../../support/fast-clock.ts';
import { waitFor } from '../../../../support/index.ts';
import { never, resource, startBench } from './support.ts';

/** A plugin that answers ListAndWatch with bytes that nobody has looked at. */
async function startRawPlugin(
  socket: string,
  list: Uint8Array,
): Promise<AsyncDisposable & { lists: number }> {
  const plain = (bytes: Buffer) => bytes;
  const raw = {
    requestSerialize: plain,
    requestDeserialize: plain,
    responseSerialize: plain,
    responseDeserialize: plain,
  };
  const server = new Server({ 'grpc.max_send_message_length': -1 });
  const started = {
    lists: 0,
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  };
  const path = '/v1beta1.DevicePlugin/';
  server.addService(
    {
      options: { ...raw, path: `${path}GetDevicePluginOptions`, requestStream: false, responseStream: false },
      list: { ...raw, path: `${path}ListAndWatch`, requestStream: false, responseStream: true },
    },
    {
      options: (_call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) =>
        answer(null, Buffer.alloc(0)),
      list: (call: ServerWritableStream<Buffer, Buffer>) => {
        started.lists += 1;
        call.write(Buffer.from(list));
      },
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return started;
}

/** One device as the wire has it: field 1 of the list, with field 1 of the device. */
function deviceBytes(id: string): Buffer {
  const name = Buffer.from(id);
  return Buffer.concat([Buffer.from([0x0a, name.length + 2, 0x0a, name.length]), name]);
}

describe('a plugin whose list', () => {
  const tooMany = Buffer.concat(
    Array.from({ length: limits.devices + 1 }, (_, index) => deviceBytes(`d${index}`)),
  );
  for (const [what, bytes, why] of [
    ['is no message', Buffer.from([0xff, 0xff, 0xff, 0xff]), /./],
    ['breaks off', deviceBytes('device').subarray(0, 6), /./],
    ['is too long', tooMany, /16385 devices; at most 16384/],
    ['is larger than any', Buffer.alloc(limits.messageBytes + 1, deviceBytes('d')), /larger|message/i],
  ] as const) {
    test(`${what} has no devices here, is asked again, and harms no other`, async () => {
      await using bench = await startBench({ clock: fastClock(10) });
      const socket = join(bench.folder, 'raw.sock');
      await using raw = await startRawPlugin(socket, bytes);
      await bench.manager.register({ resource, socket, way: 'registration' }, never);
      await waitFor('another try', () => raw.lists >= 2);
      await waitFor('the reason', () => why.test(bench.manager.attachment(resource)?.lastError ?? ''));
      assert.equal(bench.amounts(), '0/0');
      await using good = await startFakePlugin({
        socket: join(bench.folder, 'good.sock'),
        devices: [{ id: 'd0' }],
      });
      await bench.manager.register(
        { resource: 'vendor.example/good', socket: good.socket, way: 'registration' },
        never,
      );
      await waitFor('the good one', () => bench.amounts('vendor.example/good') === '1/1');
      await bench.manager.register({ resource, socket: good.socket, way: 'registration' }, never);
      await waitFor('its better successor', () => bench.amounts() === '1/1');
    });
  }

  test('does not come leaves the devices of the plugin before in doubt', async () => {
    await using bench = await startBench({ clock: fastClock(10) });
    await using first = await startFakePlugin({
      socket: join(bench.folder, 'a.sock'),
      devices: [{ id: 'd0' }],
    });
    await using silent = await startFakePlugin({
      socket: join(bench.folder, 'b.sock'),
      hang: ['list'],
      devices: [{ id: 'd0' }],
    });
    await bench.manager.register({ resource, socket: first.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '1/1');
    await bench.manager.register({ resource, socket: silent.socket, way: 'registration' }, never);
    await waitFor('the doubt', () => bench.amounts() === '0/1');
    assert.equal(bench.manager.attachment(resource)?.state, 'listing');
    silent.list([{ id: 'd0' }]);
    await waitFor('the list, late', () => bench.amounts() === '1/1');
    assert.equal(bench.manager.attachment(resource)?.state, 'serving');
  });
});

describe('a call of a plugin', () => {
  test('that is not answered ends with its caller', async () => {
    await using bench = await startBench();
    const socket = join(bench.folder, 'p.sock');
    await using _plugin = await startFakePlugin({
      socket,
      devices: [{ id: 'd0' }],
      hang: ['allocate', 'preferred', 'preStart'],
    });
    await bench.manager.register({ resource, socket, way: 'registration' }, never);
    const calls = bench.manager.inventory.resources().get(resource)?.plugin;
    assert.ok(calls);
    const end = new AbortController();
    const waiting = [
      calls.allocate(['d0'], end.signal),
      calls.preferred({ available: ['d0'], mustInclude: [], size: 1 }, end.signal),
      calls.preStart(['d0'], end.signal),
    ];
    const ended = Promise.allSettled(waiting);
    end.abort();
    assert.deepEqual(
      (await ended).map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
  });

  test('fails in the words of the plugin, and when it dies meanwhile', async () => {
    await using bench = await startBench();
    const failing = await startFakePlugin({
      socket: join(bench.folder, 'f.sock'),
      fail: { allocate: 'd0 is broken' },
    });
    await bench.manager.register({ resource, socket: failing.socket, way: 'registration' }, never);
    const calls = bench.manager.inventory.resources().get(resource)?.plugin;
    await assert.rejects(calls?.allocate(['d0'], never) ?? Promise.resolve(), /d0 is broken/);
    await failing[Symbol.asyncDispose]();
    await assert.rejects(calls?.allocate(['d0'], never) ?? Promise.resolve());
  });
});
