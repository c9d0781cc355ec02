import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { waitFor } from '../../../support/index.ts';
import { SpdyServer } from '../../../support/spdy-server.ts';
import type { TestServer } from '../support/index.ts';
import { startServer } from '../support/index.ts';
import { nodeWith, publish } from './agent.ts';

const pods = '/api/v1/namespaces/default/pods';
const v5 = 'v5.channel.k8s.io';
const tunnel = 'SPDY/3.1+portforward.k8s.io';
const agreed = (protocol: string) =>
  `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`;

/** A server with the pod `web` on a node whose agent agrees to each stream. */
async function startWithPod() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startServer());
  const agent = stack.use(
    await nodeWith(server, 'node-a', (_request, response) => response.writeHead(400).end('no')),
  );
  const streams: { request: IncomingMessage; socket: Duplex }[] = [];
  agent.server.on('upgrade', (asked: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => undefined);
    socket.write(agreed(String(asked.headers['x-stream-protocol-version'])));
    streams.push({ request: asked, socket });
  });
  const spec = { nodeName: 'node-a', containers: [{ name: 'main', image: 'i' }] };
  const reply = await server.admin.request('POST', pods, { body: { metadata: { name: 'web' }, spec } });
  assert.equal(reply.code, 201, reply.text);
  const resources = stack.move();
  return { server, streams, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** The connection on which a WebSocket begins, or what was answered instead. */
async function ask({ admin }: TestServer, path: string, protocol: string, more: object = {}) {
  const headers = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-protocol': protocol, ...more },
  };
  const asking = request({ ...admin.tlsOptions, path: `${pods}/web/${path}`, headers, agent: false }).end();
  const { promise, resolve, reject } = Promise.withResolvers<{ answer: IncomingMessage; socket: Socket }>();
  asking.once('error', reject);
  asking.once('upgrade', (answer, socket) => resolve({ answer, socket }));
  asking.once('response', (answer) => resolve({ answer, socket: answer.socket }));
  return await promise;
}

/** A message of a client, less than 126 bytes; the mask changes nothing. */
const masked = (text: string) =>
  Buffer.concat([Buffer.from([0x82, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

describe('a client over WebSocket', { timeout: 60_000 }, () => {
  test('runs a command, for which the agent is asked in SPDY', async () => {
    await using it = await startWithPod();
    const url = `wss://127.0.0.1:${it.server.port}${pods}/web/exec?command=cat&stdin=true&stdout=true`;
    const client = new WebSocket(url, [v5, 'v4.channel.k8s.io'], it.server.admin.tlsOptions);
    const messages: string[] = [];
    client.on('message', (data) => messages.push(String(data)));
    const closed = once(client, 'close');
    await once(client, 'open');
    assert.equal(client.protocol, v5);
    const [{ request: asked, socket } = assert.fail('the agent was not asked')] = it.streams;
    assert.deepEqual([asked.method, asked.headers.upgrade], ['POST', 'SPDY/3.1']);
    assert.equal(asked.url, '/exec/default/web/main?input=1&output=1&command=cat');
    assert.equal(asked.headers['x-stream-protocol-version'], 'v4.channel.k8s.io');
    assert.equal(asked.headers['sec-websocket-key'], undefined);
    const runtime = new SpdyServer(socket);
    await waitFor('three streams', () => runtime.streams.length === 3);
    runtime.send('stdout', 'out');
    await waitFor('the output', () => messages.includes('\x01out'));
    await it.server.stop();
    assert.equal((await closed)[0], 1000);
    assert.equal(messages.at(-1)?.[0], '\x03');
    assert.match(messages.at(-1) ?? '', /"message":"the server is stopping"/);
    await waitFor('the agent’s side to close', () => socket.destroyed);
  });

  test('forwards ports: its messages carry the bytes of SPDY', async () => {
    await using it = await startWithPod();
    const { answer, socket } = await ask(it.server, 'portforward', tunnel);
    assert.equal(answer.statusCode, 101);
    assert.equal(answer.headers['sec-websocket-protocol'], tunnel);
    const [{ request: asked, socket: far } = assert.fail('the agent was not asked')] = it.streams;
    assert.deepEqual([asked.method, asked.url], ['POST', '/portForward/default/web']);
    assert.equal(asked.headers['x-stream-protocol-version'], 'portforward.k8s.io');
    const [came, there] = [collect(socket), collect(far)];
    socket.write(Buffer.concat([masked('some bytes'), masked(' and more')]));
    await waitFor('them', () => there() === 'some bytes and more');
    far.write('an answer');
    await waitFor('it', () => came() === '\x82\x09an answer');
    far.end();
    await waitFor('the close', () => came().startsWith('\x88', 11));
    socket.destroy();
  });

  test('that is lost while ports are forwarded leaves no slot taken', async () => {
    await using it = await startWithPod();
    const open = async () => {
      const { text } = await it.server.admin.request('GET', '/metrics');
      return Number(/^nodeward_node_streams (\d+)$/m.exec(text)?.[1]);
    };
    const { socket } = await ask(it.server, 'portforward', tunnel);
    const [{ socket: far } = assert.fail('the agent was not asked')] = it.streams;
    const there = collect(far);
    socket.write(masked('some bytes'));
    await waitFor('them', () => there() === 'some bytes');
    assert.equal(await open(), 1);
    socket.destroy();
    await waitFor('the slot', async () => (await open()) === 0);
    assert.equal(far.destroyed || far.readableEnded, true);
  });

  test('waits for its turn where many begin at once: a node gets few handshakes at a time', async () => {
    await using it = await startWithPod();
    const held: Socket[] = [];
    const silent = createServer((socket) => held.push(socket.on('error', () => undefined)));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const address = silent.address();
    await publish(it.server, 'node-a', typeof address === 'object' ? (address?.port ?? 0) : 0);
    const asked = Array.from({ length: 90 }, () => ask(it.server, 'exec?stdout=true', v5));
    await waitFor('some handshakes', () => held.length >= 60);
    for (let round = 0; round < 30; round += 1) await it.server.admin.request('GET', pods); // the others would come
    assert.ok(held.length < 75, `${held.length} handshakes at once`); // on a slow machine some have ended by now
    for (const socket of held.slice(0, 30)) socket.destroy();
    await waitFor('the others', () => held.length === 90);
    silent.close();
    for (const socket of held) socket.destroy();
    const answers = await Promise.all(asked);
    assert.ok(answers.every(({ answer }) => [503, 504].includes(answer.statusCode ?? 0)));
    for (const { socket } of answers) socket.destroy();
  });

  test('is refused for a handshake that is none, and by the agent in its words', async () => {
    await using it = await startWithPod();
    const bad = await ask(it.server, 'exec?stdout=true', v5, { 'sec-websocket-version': '7' });
    assert.equal(bad.answer.statusCode, 400);
    assert.equal(it.streams.length, 0);
    const none = await ask(it.server, 'exec?stdout=true&container=none', v5);
    assert.equal(none.answer.statusCode, 400);
    const older = await ask(it.server, 'exec?stdout=true', 'v4.channel.k8s.io');
    assert.equal(older.answer.statusCode, 101);
    assert.equal(it.streams[0]?.request.headers['sec-websocket-protocol'], 'v4.channel.k8s.io');
    for (const { socket } of [bad, none, older]) socket.destroy();
  });
});

/** What a connection gives from now on, a character for each byte. */
function collect(socket: Duplex): () => string {
  let text = '';
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  return () => text;
}
