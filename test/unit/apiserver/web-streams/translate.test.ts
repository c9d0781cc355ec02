import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { rstStream } from '../../../../src/base/streams/spdy-frames.ts';
import { waitFor } from '../../../support/index.ts';
import { below, repetitions, withSeed } from '../../../support/repetition.ts';
import type { Session } from './session.ts';
import { startSession } from './session.ts';

const success = '{"metadata":{},"status":"Success"}';

async function startOpen(wishes: Parameters<typeof startSession>[0], streams: number): Promise<Session> {
  const session = await startSession(wishes);
  await waitFor('the streams to be open', () => session.runtime.streams.length === streams);
  return session;
}

const message = (channel: number, bytes: Buffer | string) => Buffer.from([channel, ...Buffer.from(bytes)]);
const sha256 = (bytes: Buffer | undefined) =>
  createHash('sha256')
    .update(bytes ?? '')
    .digest('hex');

describe('a command of a client over WebSocket', { timeout: 60_000 }, () => {
  test('has its channels as streams of SPDY, and its input ends', async () => {
    await using session = await startOpen({}, 4);
    const { runtime, client } = session;
    const types = runtime.streams.map(({ headers }) => headers.get('streamtype'));
    assert.deepEqual(types, ['error', 'stdin', 'stdout', 'stderr']);
    client.send(message(0, 'to it'));
    client.send(message(4, 'a size that it did not ask for'));
    client.send(message(200, 'a channel that is none'));
    client.send(Buffer.alloc(0));
    client.send(message(255, Buffer.from([0])));
    client.send(message(0, 'too late'));
    await waitFor('the input to end', () => runtime.find('stdin')?.isEnded);
    assert.equal(String(Buffer.concat(runtime.find('stdin')?.pieces ?? [])), 'to it');
    runtime.send('stdout', 'out');
    runtime.send('stderr', 'err');
    for (const stream of ['stdout', 'stderr']) runtime.send(stream, '', true);
    runtime.send('error', success, true);
    assert.equal(await session.closed, 1000);
    const texts = [1, 2, 3].map((channel) => String(session.received(channel)));
    assert.deepEqual(texts, ['out', 'err', success]);
  });

  test('at a terminal has sizes and no stderr', async () => {
    await using session = await startOpen({ tty: true }, 4);
    const types = session.runtime.streams.map(({ headers }) => headers.get('streamtype'));
    assert.deepEqual(types, ['error', 'stdin', 'stdout', 'resize']);
    session.client.send(message(4, '{"Width":80,"Height":24}'));
    await waitFor('the size', () => String(session.runtime.find('resize')?.pieces).includes('80'));
  });

  test('ends behind all that it wrote, in whatever order that comes', async () => {
    await using session = await startOpen({ stdin: false, stderr: false }, 2);
    const { runtime } = session;
    runtime.send('error', success, true);
    const bytes = randomBytes(3 * 1024 * 1024);
    runtime.send('stdout', bytes, false);
    runtime.socket.write(rstStream(runtime.find('stdout')?.id ?? 0, 5));
    assert.equal(await session.closed, 1000);
    assert.equal(sha256(session.received(1)), sha256(bytes));
    assert.equal(session.order.at(-1), 3);
    await session.done;
  });

  test('tells its exit code to a client that reads its output late', async () => {
    await using session = await startOpen({ stdin: false, stderr: false }, 2);
    const { runtime, client } = session;
    const piece = randomBytes(4096);
    client.pause();
    let sent = 0;
    // until it is held, and so little that the runtime is still listened to
    for (; session.heldBytes() === 0; sent += 1) {
      runtime.send('stdout', piece);
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    runtime.send('stdout', '', true);
    runtime.send('error', success, true);
    await sleep(1500); // more than the second that the library gives to a connection that closes
    client.resume();
    assert.equal(await session.closed, 1000);
    assert.equal(session.receivedBytes(1), sent * piece.length);
    assert.equal(String(session.received(3)), success);
  });

  test('never looks well when the runtime is lost', async () => {
    await using session = await startOpen({}, 4);
    session.runtime.send('stdout', 'some');
    await waitFor('an output', () => session.receivedBytes(1) > 0);
    session.runtime.socket.destroy();
    assert.equal(await session.closed, 1000);
    const { status, message: text } = JSON.parse(String(session.received(3)));
    assert.deepEqual(
      [status, text],
      ['Failure', 'the connection to the node was lost before it said how the command ended'],
    );
  });

  test('ends at the runtime when the client goes', async () => {
    await using session = await startOpen({}, 4);
    session.client.terminate();
    await waitFor('the runtime’s side to close', () => session.runtime.socket.destroyed);
    await session.done;
  });

  test('says why it is ended from here', async () => {
    await using session = await startOpen({}, 4);
    session.stop();
    assert.equal(await session.closed, 1000);
    assert.equal(JSON.parse(String(session.received(3))).message, 'it stops');
    await session.done;
  });

  test('takes as much as the other side reads, in both directions', async () => {
    await using session = await startOpen({}, 4);
    const { client, runtime } = session;
    const piece = Buffer.alloc(1024 * 1024);
    client.pause();
    const total = 48 * piece.length;
    for (let written = 0; written < total; written += piece.length) runtime.send('stdout', piece);
    await waitFor('the client to be full', () => session.heldBytes() > 0);
    let most = 0;
    for (let round = 0; round < 500; round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, session.heldBytes());
    }
    assert.ok(most < 2 * piece.length, `${most} bytes are kept`);
    client.resume();
    await waitFor('all of it', () => session.receivedBytes(1) === total, { timeoutMs: 50_000 });
    let sent = 0;
    runtime.socket.pause();
    for (sent = 0; client.bufferedAmount < 4 * piece.length; sent += piece.length) {
      client.send(message(0, piece.subarray(1)));
      assert.ok(sent < 128 * piece.length, 'an input is kept whole');
      await new Promise((resolve) => setImmediate(resolve));
    }
    let pongs = 0;
    client.on('pong', () => {
      pongs += 1;
    });
    await waitFor('an answer to pings that are not read', async () => {
      await session.clock.advance(10_000);
      return pongs > 0;
    });
    runtime.socket.resume();
    await waitFor('it to be taken', () => client.bufferedAmount === 0);
  });

  test('is over after frames that are broken, and after those of a client that goes in the middle', () =>
    withSeed(async (random) => {
      for (let round = repetitions('NODEWARD_STREAM_SESSIONS', 40); round > 0; round -= 1) {
        await using session = await startOpen({}, 4);
        session.client.on('error', () => undefined);
        const raw: unknown = Reflect.get(session.client, '_socket');
        assert.ok(raw instanceof Socket);
        const bytes = Array.from({ length: 1 + below(64, random) }, () => below(256, random));
        raw.end(Buffer.from([0x80 | below(16, random), 0x80 | below(128, random), ...bytes]));
        await session.done;
        assert.ok(session.clock.sleepers === 0);
      }
    }));

  test('is closed for a message that is too large', async () => {
    await using session = await startOpen({}, 4);
    session.client.on('error', () => undefined);
    session.client.send(Buffer.alloc(8 * 1024 * 1024 + 1));
    assert.equal(await session.closed, 1009);
    await session.done;
  });
});
