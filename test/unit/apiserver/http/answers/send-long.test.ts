import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fastify from 'fastify';
import { sendLong } from '../../../../../src/apiserver/http/answers/send-long.ts';
import { waitFor } from '../../../../support/index.ts';

const piece = Buffer.alloc(256 * 1024, 'x');
/** Together far more than a connection holds on its way. */
const pieces = 100;

/** A server whose answers are long, and how many pieces of the last one it has made. */
async function startServer(stallMs: number) {
  const app = fastify({ forceCloseConnections: true });
  const made = { pieces: 0, cut: false };
  app.get('/', async (_request, reply) => {
    Object.assign(made, { pieces: 0, cut: false });
    reply.raw.once('close', () => {
      made.cut = !reply.raw.writableFinished;
    });
    const body = {
      length: pieces * piece.length,
      *pieces() {
        for (; made.pieces < pieces; made.pieces++) yield piece;
      },
    };
    sendLong(reply.type('text/plain'), 200, body, { stallMs });
    return reply;
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { made, port: address.port, [Symbol.asyncDispose]: () => app.close() };
}

/** A client that has the head of the answer and reads no further. */
async function begin(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'readable');
  return socket;
}

test('who stops reading a long answer is cut off after a while, and nobody before', {
  timeout: 20_000,
}, async () => {
  const stallMs = 500;
  await using server = await startServer(stallMs);
  const startedMs = performance.now();
  const socket = await begin(server.port);
  await waitFor('the end of the response', () => server.made.cut);
  assert.ok(performance.now() - startedMs >= stallMs);
  assert.ok(server.made.pieces > 1 && server.made.pieces < pieces, `${server.made.pieces} pieces were made`);
  const left = Buffer.concat(await socket.toArray()).length;
  assert.ok(left < pieces * piece.length, 'the answer is not whole, and its length tells so');
});

test('who reads slowly, but reads, gets all of a long answer', { timeout: 60_000 }, async () => {
  const stallMs = 2_000;
  await using server = await startServer(stallMs);
  const startedMs = performance.now();
  const socket = await begin(server.port);
  let received = 0;
  while (received < pieces * piece.length) {
    await delay(30);
    const part: Buffer | null = socket.read(Math.min(socket.readableLength, piece.length));
    received += part?.length ?? 0;
    assert.ok(!server.made.cut || server.made.pieces === pieces);
    if (part === null && !socket.readable) break;
  }
  assert.ok(received >= pieces * piece.length, `${received} bytes came`);
  assert.ok(performance.now() - startedMs > stallMs, 'it took longer than one may stand still');
  socket.destroy();
});
