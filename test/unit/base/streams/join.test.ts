import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { Carried } from '../../../../src/base/streams/index.ts';
import { createCloseNotice, joinStreams, SpdyClient } from '../../../../src/base/streams/index.ts';
import { dataHead, rstStream, synStream } from '../../../../src/base/streams/spdy-frames.ts';
import { formatHeaderBlock } from '../../../../src/base/streams/spdy-headers.ts';
import { waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { socketPair } from '../../../support/socket-pair.ts';
import { SpdyServer } from '../../../support/spdy-server.ts';

const spdy = (protocol: string) => ({ upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol });
const webSocket = (protocol: string) => ({ upgrade: 'websocket', 'sec-websocket-protocol': protocol });

/** A client and a server whose connections are joined. */
async function startJoint(answer: IncomingHttpHeaders, carried: Carried = 'command', idleMs = 60_000) {
  const [left, right] = [await socketPair(), await socketPair()];
  const clock = createManualClock();
  const stop = new AbortController();
  const endings = [{ signal: stop.signal, text: 'it stops' }];
  const done = joinStreams(left.far, right.near, createCloseNotice(answer, carried), {
    ...{ idleMs, endings, clock, lost: 'it is lost' },
  });
  return {
    ...{ client: left.near, server: right.far, done, clock },
    stop: () => stop.abort(),
    async [Symbol.asyncDispose]() {
      await left[Symbol.asyncDispose]();
      await right[Symbol.asyncDispose]();
      await done;
    },
  };
}

/** What a socket gives from now on. */
function collect(socket: Socket): { bytes: Buffer } {
  const all = { bytes: Buffer.alloc(0) };
  socket.on('data', (piece: Buffer) => {
    all.bytes = Buffer.concat([all.bytes, piece]);
  });
  socket.resume();
  return all;
}

/** The client's end of a joint of SPDY, with streams of these types; what came on them. */
async function openStreams(client: Socket, server: SpdyServer, types: readonly string[]) {
  const spdyClient = new SpdyClient(client);
  const came = types.map((streamtype) => {
    const stream = { streamtype, text: '', isEnded: false };
    spdyClient.open(
      { streamtype },
      {
        onData: (piece) => {
          stream.text += String(piece);
        },
        onEnd: () => {
          stream.isEnded = true;
        },
      },
    );
    return stream;
  });
  await waitFor('the streams to be open', () => server.streams.length === types.length);
  return came;
}

const failureText = '"code":500}';
const failure = (text: string) => ({
  metadata: {},
  ...{ status: 'Failure', message: text, reason: 'InternalError' },
  details: { causes: [{ message: text }] },
  code: 500,
});

describe('connections that are joined', { timeout: 60_000 }, () => {
  test('carry bytes both ways, halves that end, and close together', async () => {
    await using joint = await startJoint({});
    const bytes = randomBytes(4 * 1024 * 1024);
    const hash = (data: Buffer) => createHash('sha256').update(data).digest('hex');
    const [there, back] = [collect(joint.server), collect(joint.client)];
    joint.client.end(bytes);
    await waitFor('all to be there', () => there.bytes.length === bytes.length);
    joint.server.end(bytes);
    await waitFor('all to be back', () => back.bytes.length === bytes.length);
    assert.deepEqual([hash(there.bytes), hash(back.bytes)], [hash(bytes), hash(bytes)]);
    await joint.done;
  });

  test('hold up who sends to somebody that does not read', async () => {
    await using joint = await startJoint({});
    joint.client.pause();
    const piece = Buffer.alloc(256 * 1024);
    let sent = 0;
    while (joint.server.write(piece) || joint.server.writableLength < 4 * piece.length) {
      sent += piece.length;
      assert.ok(sent < 64 * 1024 * 1024, 'somebody takes all of it');
      await new Promise((resolve) => setImmediate(resolve));
    }
    joint.client.resume();
    await waitFor('all to be sent', () => joint.server.writableLength === 0);
  });

  test('end when a client has gone whose input is held up, and not before', async () => {
    for (const protocol of [spdy('v4.channel.k8s.io'), webSocket('v4.channel.k8s.io')]) {
      await using joint = await startJoint(protocol, 'command', 1e9);
      joint.server.pause();
      const came = collect(joint.client);
      const piece = Buffer.alloc(256 * 1024);
      while (joint.client.writableLength < 8 * piece.length) {
        joint.client.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await waitFor('a frame that changes nothing', async () => {
        await joint.clock.advance(10_000);
        return came.bytes.length > 0;
      });
      const isSpdy = protocol.upgrade === 'SPDY/3.1';
      const ping = Buffer.from('800300060000000400000002', 'hex');
      const probe = isSpdy ? ping : Buffer.from([0x8a, 0]);
      assert.deepEqual(came.bytes.subarray(0, probe.length), probe);
      joint.client.destroy();
      let isOver = false;
      void joint.done.then(() => {
        isOver = true;
      });
      await waitFor('both to be closed', async () => {
        await joint.clock.advance(10_000);
        return isOver;
      });
    }
  });

  test('end after standing still for too long, and not before', async () => {
    await using joint = await startJoint(webSocket('v4.channel.k8s.io'));
    const came = collect(joint.client);
    await joint.clock.advance(50_000);
    joint.client.write('x');
    const there = collect(joint.server);
    await waitFor('it to come', () => there.bytes.length === 1);
    await joint.clock.advance(50_000);
    assert.equal(came.bytes.length, 0);
    await joint.clock.advance(10_000);
    await waitFor('the reason', () => came.bytes.includes('nothing came or went for 1m0s'));
  });

  test('close when the client sends something behind the end of the server, and then ends', async () => {
    await using left = await socketPair();
    await using right = await socketPair();
    right.near.allowHalfOpen = false; // as connections to agents
    const options = { idleMs: 60_000, endings: [], clock: createManualClock() };
    const done = joinStreams(left.far, right.near, undefined, options);
    const toClient = collect(left.near);
    right.far.end('all of it');
    right.far.resume();
    await once(left.near, 'end');
    await waitFor('the server to be closed', () => right.near.closed);
    for (const bytesRead of [3, 6]) {
      left.near.write('one');
      await waitFor('it to come', () => left.far.bytesRead === bytesRead);
    }
    left.near.end();
    await done;
    assert.equal(String(toClient.bytes), 'all of it');
  });

  test('close where one of them had ended before', async () => {
    for (const ends of ['left', 'right']) {
      await using left = await socketPair();
      await using right = await socketPair();
      const [early, joined] = ends === 'left' ? [left.near, left.far] : [right.far, right.near];
      early.end();
      joined.resume();
      await once(joined, 'end');
      const options = { idleMs: 60_000, endings: [], clock: createManualClock() };
      const done = joinStreams(left.far, right.near, undefined, options);
      for (const end of [left.near, right.far]) end.once('end', () => end.end()).resume();
      await done;
    }
  });

  test('end by force where the client reads nothing', async () => {
    await using joint = await startJoint(webSocket('v4.channel.k8s.io'));
    joint.client.pause();
    joint.server.write(Buffer.from([0x82, 126, 255, 255])); // the frame is never whole
    joint.stop();
    await joint.clock.advance(1000);
    await joint.done;
    assert.ok(joint.clock.sleepers === 0);
  });
});

describe('a client over SPDY learns why its connection ends', { timeout: 60_000 }, () => {
  test('of a command, by a status', async () => {
    await using joint = await startJoint(spdy('v4.channel.k8s.io'));
    const server = new SpdyServer(joint.server);
    const [error, stdout] = await openStreams(joint.client, server, ['error', 'stdout']);
    server.send('stdout', 'some');
    await waitFor('an output', () => stdout?.text === 'some');
    joint.stop();
    await waitFor('both to end', () => error?.isEnded && stdout?.isEnded);
    assert.deepEqual(JSON.parse(error?.text ?? ''), failure('it stops'));
    assert.equal(stdout?.text, 'some');
  });

  test('of ports, on the streams of errors that are open; behind that the others are reset, and do not look whole', async () => {
    await using joint = await startJoint(spdy('portforward.k8s.io'), 'ports');
    const server = new SpdyServer(joint.server);
    const came = collect(joint.client);
    const [error, data] = await openStreams(joint.client, server, ['error', 'data']);
    joint.stop();
    await waitFor('the reason, and the end of the other', () => data?.isEnded);
    assert.deepEqual([error?.text, error?.isEnded], ['it stops', true]);
    const reset = rstStream(server.find('data')?.id ?? 0, 5);
    assert.deepEqual(came.bytes.subarray(-reset.length), reset);
  });

  test('when the server goes without a word, and not when it has said how all ended', async () => {
    for (const how of ['end', 'destroy'] as const) {
      await using joint = await startJoint(spdy('v4.channel.k8s.io'));
      const server = new SpdyServer(joint.server);
      const [error, stdout] = await openStreams(joint.client, server, ['error', 'stdout']);
      joint.server[how]();
      await waitFor('both to end', () => error?.isEnded && stdout?.isEnded);
      assert.deepEqual(JSON.parse(error?.text ?? ''), failure('it is lost'), how);
    }
    await using joint = await startJoint(spdy('v4.channel.k8s.io'));
    const server = new SpdyServer(joint.server);
    const [error] = await openStreams(joint.client, server, ['error', 'stdin']);
    const came = collect(joint.client);
    server.send('error', '{}', true);
    joint.server.end();
    await joint.done;
    assert.deepEqual([error?.text, came.bytes.length], ['{}', 10]);
  });

  test('behind the frame that had begun', async () => {
    await using joint = await startJoint(spdy('v4.channel.k8s.io'));
    const server = new SpdyServer(joint.server);
    const [error, stdout] = await openStreams(joint.client, server, ['error', 'stdout']);
    const id = server.find('stdout')?.id ?? 0;
    joint.server.write(Buffer.concat([dataHead(id, 6), Buffer.from('abc')]));
    await waitFor('its start', () => stdout?.text === 'abc');
    joint.stop();
    joint.server.write(Buffer.concat([Buffer.from('def'), dataHead(id, 3), Buffer.from('ghi')]));
    await waitFor('the reason', () => error?.isEnded);
    assert.equal(stdout?.text, 'abcdef');
    assert.deepEqual(JSON.parse(error?.text ?? '').message, 'it stops');
  });

  test('not where the server has ended the stream of errors, or nothing of the protocol came', async () => {
    await using joint = await startJoint(spdy('v4.channel.k8s.io'));
    const server = new SpdyServer(joint.server);
    const [error] = await openStreams(joint.client, server, ['error']);
    server.send('error', '{}', true);
    await waitFor('it to end', () => error?.isEnded);
    const came = collect(joint.client);
    joint.stop();
    joint.client.end();
    await joint.done;
    assert.equal(came.bytes.length, 0);
    await using other = await startJoint(spdy('v4.channel.k8s.io'));
    const all = collect(other.client);
    other.server.write('no frames, but bytes');
    await waitFor('them to be there', () => all.bytes.length === 20);
    other.stop();
    other.client.end();
    await other.done;
    assert.equal(String(all.bytes), 'no frames, but bytes');
  });
});

describe('the headers that a client over SPDY sends', { timeout: 60_000 }, () => {
  /** What would be told to a client that has sent this many at once. */
  async function framesAfter(count: number): Promise<Buffer> {
    using notice = createCloseNotice(spdy('v4.channel.k8s.io'), 'command');
    assert.ok(notice !== undefined);
    const block = (index: number) => formatHeaderBlock({ streamtype: 'error' }, index === 0);
    const opened = Array.from({ length: count }, (_, index) => synStream(2 * index + 1, block(index)));
    notice.fromClient(Buffer.concat(opened));
    return await notice.frames('it stops');
  }

  test('wait to be read up to a bound: beyond it nothing is known of its streams any more', async () => {
    const few = await framesAfter(100);
    assert.equal(few.subarray(-failureText.length).toString(), failureText);
    assert.equal((await framesAfter(5000)).length, 0);
  });
});

describe('a client over WebSocket learns why its connection ends', { timeout: 60_000 }, () => {
  /** The frames behind `before`, which the server had sent. */
  async function lastFrames(protocol: string, carried: Carried, before: Buffer): Promise<Buffer> {
    await using joint = await startJoint(webSocket(protocol), carried);
    const came = collect(joint.client);
    joint.server.write(before);
    await waitFor('what the server has sent', () => came.bytes.length === before.length);
    joint.stop();
    await waitFor('the reason', () => came.bytes.subarray(before.length).includes('it stops'));
    joint.client.end();
    await joint.done;
    return came.bytes.subarray(before.length);
  }
  const close = (code: number) => Buffer.from([0x88, 10, code >> 8, code & 255, ...Buffer.from('it stops')]);
  const output = Buffer.from([0x82, 2, 1, 65]);

  test('by a status on the channel of errors, then by the close', async () => {
    const status = Buffer.from([3, ...Buffer.from(JSON.stringify(failure('it stops')))]);
    const frames = await lastFrames('v4.channel.k8s.io', 'command', output);
    const wanted = Buffer.concat([Buffer.from([0x82, 126, 0, status.length]), status, close(1000)]);
    assert.deepEqual(frames, wanted);
  });

  test('by text, of older protocols and in their encoding', async () => {
    const plain = await lastFrames('channel.k8s.io', 'command', output);
    assert.deepEqual(
      plain,
      Buffer.concat([Buffer.from([0x82, 9, 3, ...Buffer.from('it stops')]), close(1000)]),
    );
    const encoded = `3${Buffer.from('it stops').toString('base64')}`;
    const base64 = await lastFrames('base64.channel.k8s.io', 'command', output);
    assert.deepEqual(
      base64,
      Buffer.concat([Buffer.from([0x81, encoded.length]), Buffer.from(encoded), close(1000)]),
    );
  });

  test('by the close alone, of ports and in the middle of a message', async () => {
    assert.deepEqual(await lastFrames('v4.channel.k8s.io', 'ports', output), close(1001));
    const begun = Buffer.from([0x02, 2, 1, 65]);
    assert.deepEqual(await lastFrames('v4.channel.k8s.io', 'command', begun), close(1001));
  });
});
