import assert from 'node:assert/strict';
import { once } from 'node:events';
import { lstat, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { DevicePlugin } from '../../../../src/agent/plugins/devices/gen/device-plugin_pb.js';
import type { Handlers, UnixServerOptions } from '../../../../src/base/grpc/index.ts';
import {
  GrpcError,
  grpcCodes,
  implement,
  isListening,
  openUnixClient,
  serveUnix,
} from '../../../../src/base/grpc/index.ts';
import { describeError, silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { recordedLog } from '../recorded-log.ts';

const { allocate, getDevicePluginOptions, listAndWatch, preStartContainer } = DevicePlugin.method;

async function place(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  return { path: join(folder.path, 'x.sock'), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

function serve(path: string, handlers: Handlers<typeof DevicePlugin>, more: Partial<UnixServerOptions> = {}) {
  return serveUnix({ path, services: [implement(DevicePlugin, handlers)], log: silentLogger(), ...more });
}

function codeIs(code: number, message?: RegExp) {
  return (error: unknown): true => {
    assert.ok(error instanceof GrpcError, String(error));
    assert.equal(error.code, code, error.message);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  };
}

const soon = { deadlineMs: 5000 };

test('a call is answered', async () => {
  await using at = await place();
  await using _server = await serve(at.path, {
    allocate: async ({ containerRequests }) => ({
      containerResponses: containerRequests.map(({ devicesIds }) => ({ envs: { IDS: devicesIds.join() } })),
    }),
  });
  using client = openUnixClient(at.path);

  const answer = await client.unary(allocate, { containerRequests: [{ devicesIds: ['a', 'b'] }] }, soon);

  assert.equal(answer.containerResponses[0]?.envs['IDS'], 'a,b');
});

test('an error that is meant for the caller is told, any other stays in the log', async () => {
  await using at = await place();
  const { log, text } = recordedLog();
  const handlers: Handlers<typeof DevicePlugin> = {
    allocate: () => Promise.reject(new GrpcError(grpcCodes.NOT_FOUND, 'no such device')),
    preStartContainer: () => Promise.reject(new Error('secret path')),
  };
  await using _server = await serve(at.path, handlers, { log });
  using client = openUnixClient(at.path);

  await assert.rejects(client.unary(allocate, {}, soon), codeIs(grpcCodes.NOT_FOUND, /^no such device$/));
  await assert.rejects(
    client.unary(preStartContainer, {}, soon),
    codeIs(grpcCodes.INTERNAL, /^internal error; see the log$/),
  );
  await assert.rejects(client.unary(getDevicePluginOptions, {}, soon), codeIs(grpcCodes.UNIMPLEMENTED));
  assert.match(text(), /a call could not be answered.*secret path|secret path.*a call could not be answered/);
});

test('messages of a stream come in order and end with it', async () => {
  await using at = await place();
  await using _server = await serve(at.path, {
    async *listAndWatch() {
      for (let n = 0; n < 500; n += 1) yield { devices: [{ ID: String(n) }] };
    },
  });
  using client = openUnixClient(at.path);

  const seen: string[] = [];
  for await (const { devices } of client.stream(listAndWatch, {}, soon)) seen.push(devices[0]?.ID ?? '');

  assert.deepEqual(
    seen,
    Array.from({ length: 500 }, (_, n) => String(n)),
  );
});

test('a stream is produced no faster than it is read, and ends on both sides when its reader leaves', async () => {
  await using at = await place();
  let produced = 0;
  let ended = false;
  const large = 'x'.repeat(64 * 1024);
  await using _server = await serve(at.path, {
    async *listAndWatch(_request, { signal }) {
      signal.addEventListener('abort', () => (ended = true));
      for (; produced < 10_000; produced += 1) yield { devices: [{ ID: large }] };
    },
  });
  using client = openUnixClient(at.path);

  let read = 0;
  for await (const _ of client.stream(listAndWatch, {}, { deadlineMs: null })) {
    read += 1;
    if (read === 3) break;
  }

  await waitFor('the handler hears that its caller is gone', () => ended);
  assert.ok(produced < 1000, `${produced} messages of 64 KiB for 3 that were read`);
});

test('a stream tells why it failed, and that its server is gone', async () => {
  await using at = await place();
  const server = await serve(at.path, {
    async *listAndWatch(_request, { signal }) {
      yield { devices: [] };
      await once(signal, 'abort');
      throw new GrpcError(grpcCodes.FAILED_PRECONDITION, 'the card is gone');
    },
  });
  using client = openUnixClient(at.path);

  const stream = client.stream(listAndWatch, {}, { deadlineMs: null })[Symbol.asyncIterator]();
  await stream.next();
  const failed = assert.rejects(stream.next(), codeIs(grpcCodes.FAILED_PRECONDITION, /the card is gone/));
  await server[Symbol.asyncDispose]();

  await failed;
});

test('a call is given up by its time, by its caller and by closing the client', async () => {
  await using at = await place();
  let under = 0;
  let left = 0;
  await using _server = await serve(at.path, {
    allocate: async (_request, { signal }) => {
      under += 1;
      await once(signal, 'abort');
      left += 1;
      return {};
    },
  });
  using client = openUnixClient(at.path);

  await assert.rejects(client.unary(allocate, {}, { deadlineMs: 100 }), codeIs(grpcCodes.DEADLINE_EXCEEDED));
  const caller = new AbortController();
  const cancelled = client.unary(allocate, {}, { deadlineMs: null, cancel: caller.signal });
  await waitFor('the second call is under way', () => under === 2);
  caller.abort();
  await assert.rejects(cancelled, (error: GrpcError) => error.byCaller && error.code === grpcCodes.CANCELLED);
  const closed = client.unary(allocate, {}, { deadlineMs: null });
  await waitFor('the third call is under way', () => under === 3);
  client[Symbol.dispose]();
  await assert.rejects(closed, codeIs(grpcCodes.CANCELLED));
  await assert.rejects(client.unary(allocate, {}, soon), codeIs(grpcCodes.CANCELLED));
  await waitFor('the server hears of all three', () => left === 3);
});

test('messages beyond the limit are refused, sent and received', async () => {
  await using at = await place();
  const large = 'x'.repeat(200_000);
  await using _server = await serve(
    at.path,
    {
      allocate: async () => ({ containerResponses: [{ envs: { A: large } }] }),
      preStartContainer: async () => ({}),
    },
    { maxMessageBytes: 100_000 },
  );
  using generous = openUnixClient(at.path);
  using strict = openUnixClient(at.path, { maxMessageBytes: 100_000 });

  await assert.rejects(
    generous.unary(preStartContainer, { devicesIds: [large] }, soon),
    codeIs(grpcCodes.RESOURCE_EXHAUSTED),
  );
  await assert.rejects(strict.unary(allocate, {}, soon), codeIs(grpcCodes.RESOURCE_EXHAUSTED));
});

test('more calls at a time than are allowed are refused, the others go on', async () => {
  await using at = await place();
  const { promise: go, resolve } = Promise.withResolvers<void>();
  let under = 0;
  await using _server = await serve(
    at.path,
    {
      allocate: async () => {
        under += 1;
        await go;
        return {};
      },
    },
    { maxCalls: 2 },
  );
  using one = openUnixClient(at.path);
  using other = openUnixClient(at.path);

  const first = [one.unary(allocate, {}, soon), other.unary(allocate, {}, soon)];
  await waitFor('two calls are under way', () => under === 2);
  using third = openUnixClient(at.path);
  await assert.rejects(third.unary(allocate, {}, soon), codeIs(grpcCodes.RESOURCE_EXHAUSTED, /2 calls/));
  resolve();

  await Promise.all(first);
  await third.unary(allocate, {}, soon);
});

test('a socket that was left behind is replaced; closing leaves that of a successor alone', async () => {
  await using at = await place();
  const first = await serve(at.path, { preStartContainer: async () => ({}) });
  const before = await lstat(at.path);
  await using _second = await serve(at.path, { preStartContainer: async () => ({}) }, { mode: 0o660 });
  const after = await lstat(at.path);

  await first[Symbol.asyncDispose]();

  assert.equal(before.mode & 0o777, 0o600);
  assert.equal(after.mode & 0o777, 0o660);
  assert.notEqual(before.ino, after.ino);
  assert.equal((await lstat(at.path)).ino, after.ino);
  assert.equal(await isListening(at.path), true);
  using client = openUnixClient(at.path);
  await client.unary(preStartContainer, {}, soon);
});

test('a closed server leaves no socket', async () => {
  await using at = await place();
  const server = await serve(at.path, {});
  await server[Symbol.asyncDispose]();

  await assert.rejects(lstat(at.path), { code: 'ENOENT' });
  assert.equal(await isListening(at.path), false);
});

test('what is no socket is not replaced, and a missing folder is named', async () => {
  await using at = await place();
  await writeFile(at.path, 'mine');

  await assert.rejects(serve(at.path, {}), /x\.sock is there already and is no socket; remove it/);
  await assert.rejects(serve(`${at.path}.d/y.sock`, {}), /x\.sock\.d\/y\.sock cannot be served: /);
  await assert.rejects(serve(`/${'x'.repeat(120)}`, {}), /at most 107 bytes, this one has 121/);
  assert.throws(() => openUnixClient(`/${'x'.repeat(120)}`), /at most 107 bytes/);
  assert.throws(() => openUnixClient('x.sock'), /absolute path/);
});

test('a peer that is silent, or speaks something else, fails the call and nothing more', async () => {
  await using at = await place();
  let answer: string | undefined;
  const open = new Set<Socket>();
  const peer = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
    socket.resume();
    if (answer !== undefined) socket.end(answer);
  });
  peer.listen(at.path);
  await once(peer, 'listening');

  const silent = openUnixClient(at.path);
  await assert.rejects(silent.unary(allocate, {}, { deadlineMs: 200 }), codeIs(grpcCodes.DEADLINE_EXCEEDED));
  assert.equal(open.size, 1);
  silent[Symbol.dispose]();
  await waitFor('the connection to the silent peer is closed', () => open.size === 0);
  answer = 'HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(1000);
  const wrong = openUnixClient(at.path);
  await assert.rejects(wrong.unary(allocate, {}, soon), GrpcError);
  wrong[Symbol.dispose]();
  await waitFor('no connection is left', () => open.size === 0);

  peer.close();
});

test('why nobody can be reached is told in the same words each time, and only once', async () => {
  await using at = await place();
  const peer = createServer((socket) =>
    socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  );
  peer.listen(at.path);
  await once(peer, 'listening');

  async function failure(path: string): Promise<string> {
    using client = openUnixClient(path);
    return await client.unary(allocate, {}, soon).then(() => 'answered', describeError);
  }
  const told = [await failure(at.path), await failure(at.path)];
  const missing = await failure(`${at.path}.none`);

  assert.deepEqual(told, Array(2).fill('No connection established. Last error: Protocol error'));
  assert.match(missing, /^[^\n]*Last error: [^\n]*ENOENT [^ ]*\.none$/);
  peer.close();
});

test('a message of a stream that cannot be read ends it, and what came before is given', async () => {
  await using at = await place();
  const peer = new Server();
  const asIs = (bytes: Buffer) => bytes;
  const path = '/v1beta1.DevicePlugin/ListAndWatch';
  const codecs = { requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs };
  const definition = {
    path,
    requestStream: false,
    responseStream: true,
    ...codecs,
    responseDeserialize: asIs,
  };
  peer.addService(
    { listAndWatch: definition },
    {
      listAndWatch(call: ServerWritableStream<Buffer, Buffer>) {
        call.write(Buffer.from('0a030a0161', 'hex'));
        call.write(Buffer.from('0aff', 'hex'));
      },
    },
  );
  await new Promise<void>((resolve) =>
    peer.bindAsync(`unix:${at.path}`, ServerCredentials.createInsecure(), () => resolve()),
  );
  using client = openUnixClient(at.path);

  const ids: (string | undefined)[] = [];
  const reading = async () => {
    for await (const { devices } of client.stream(listAndWatch, {}, soon)) ids.push(devices[0]?.ID);
  };

  await assert.rejects(reading(), codeIs(grpcCodes.INTERNAL, /a message that cannot be read/));
  assert.deepEqual(ids, ['a']);
  peer.forceShutdown();
});

test('a closed server has let go of clients that do not let go of it', async () => {
  await using at = await place();
  const server = await serve(at.path, {});
  const client = connect({ path: at.path, allowHalfOpen: true });
  const failed = once(client, 'error');
  client.resume();
  await once(client, 'data'); // the server's settings: it knows of the client

  await server[Symbol.asyncDispose]();

  const writing = setInterval(() => client.write('x'), 20);
  const [error] = await failed;
  clearInterval(writing);
  assert.match(String(error), /EPIPE|ECONNRESET/);
});
