import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { ApiForPods } from '../../../../src/agent/api-relay/index.ts';
import { ApiRelay } from '../../../../src/agent/api-relay/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import { startServer } from '../../apiserver/support/index.ts';

/** Loopback addresses stand for those of the node and of pods. */
const nodeIp = '127.0.0.2';
const podIp = '127.0.0.3';
const strangerIp = '127.0.0.4';

/** A server that says back what it is told, for the loopback address alone. */
async function startEcho() {
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    socket.on('error', () => undefined).pipe(socket),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(server, { place: { host: '127.0.0.1', port: portOf(server.address()) } });
}

function portOf(address: AddressInfo | string | null): number {
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

async function startRelay(where: () => ApiForPods, ca = '') {
  const stop = new AbortController();
  const moved = new Set<() => void>();
  const relay = new ApiRelay({
    where,
    ca: () => ca,
    onChange(listener) {
      moved.add(listener);
      return { [Symbol.dispose]: () => void moved.delete(listener) };
    },
    isOfNode: (ip) => [nodeIp, podIp].includes(ip),
    clock: systemClock,
    log: silentLogger(),
  });
  const ended = relay.run(stop.signal, () => undefined);
  return {
    relay,
    move: () => {
      for (const listener of moved) listener();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

async function reach(localAddress: string, host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, localAddress, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

/** What is said back to what is said. */
async function say(
  localAddress: string,
  { host, port }: { host: string; port: number },
  words: string,
): Promise<string> {
  const socket = await reach(localAddress, host, port);
  socket.end(words);
  return await text(socket);
}

const relayed = (place: { host: string; port: number }): ApiForPods => ({
  address: { host: nodeIp, port: place.port },
  relayTo: place,
});

/** Listens is what counts: the relay settles by itself. */
async function untilOpen(place: { port: number }) {
  await waitFor('the relay to listen', () =>
    say(podIp, { host: nodeIp, port: place.port }, 'x').then(
      (said) => said === 'x',
      () => false,
    ),
  );
}

describe('the relay', () => {
  test('passes on what pods and the node say, also much of it, and after one side has ended', async () => {
    await using echo = await startEcho();
    await using _at = await startRelay(() => relayed(echo.place));
    await untilOpen(echo.place);
    const much = 'abcdefgh'.repeat(500_000);
    const place = { host: nodeIp, port: echo.place.port };
    const said = await Promise.all([
      say(podIp, place, much),
      say(podIp, place, ''),
      say(nodeIp, place, 'node'),
    ]);
    assert.deepEqual(
      said.map((words) => words.length),
      [much.length, 0, 4],
    );
  });

  test('lets nobody else in', async () => {
    await using echo = await startEcho();
    await using _at = await startRelay(() => relayed(echo.place));
    await untilOpen(echo.place);
    const said = await say(strangerIp, { host: nodeIp, port: echo.place.port }, 'x').catch(() => '');
    assert.equal(said, '');
  });

  test('has an end for one source that opens more and more, and not for the others', async () => {
    await using echo = await startEcho();
    await using _at = await startRelay(() => relayed(echo.place));
    await untilOpen(echo.place);
    const opened: Socket[] = [];
    let closed = 0;
    for (let count = 0; count < 300; count += 1) {
      const socket = await reach(podIp, nodeIp, echo.place.port);
      opened.push(
        socket
          .on('error', () => undefined)
          .on('end', () => (closed += 1))
          .resume(),
      );
    }
    await waitFor('those that are too many to be closed', () => closed === 300 - 256);
    assert.equal(await say(nodeIp, { host: nodeIp, port: echo.place.port }, 'x'), 'x');
    for (const socket of opened) socket.destroy();
    await untilOpen(echo.place);
  });

  test('ends the connections of both sides when one breaks, when the API is gone, and at its own end', async () => {
    const echo = await startEcho();
    const accepted: Socket[] = [];
    echo.on('connection', (socket) => accepted.push(socket));
    const at = await startRelay(() => relayed(echo.place));
    await untilOpen(echo.place);
    const broken = await reach(podIp, nodeIp, echo.place.port);
    const before = accepted.length;
    await waitFor(
      'the connection to arrive',
      () => accepted.length > before || accepted.at(-1)?.readyState === 'open',
    );
    broken.resetAndDestroy();
    await waitFor('its other half to end', () => accepted.every((socket) => socket.destroyed));
    const kept = await reach(podIp, nodeIp, echo.place.port);
    const ended = once(kept.resume(), 'close');
    await at[Symbol.asyncDispose]();
    kept.on('error', () => undefined).end();
    await ended;
    for (const socket of accepted) socket.destroy();
    await echo[Symbol.asyncDispose]();
    await assert.rejects(reach(podIp, nodeIp, echo.place.port));
  });

  test('follows an API that moves, and stops where none is needed', async () => {
    await using first = await startEcho();
    await using second = await startEcho();
    let where = relayed(first.place);
    await using at = await startRelay(() => where);
    await untilOpen(first.place);
    where = relayed(second.place);
    at.move();
    await untilOpen(second.place);
    await assert.rejects(reach(podIp, nodeIp, first.place.port));
    where = { address: { host: '192.0.2.1', port: 6443 } };
    at.move();
    await waitFor('the relay to stop', () =>
      reach(podIp, nodeIp, second.place.port).then(
        (socket) => socket.destroy() && false,
        () => true,
      ),
    );
    assert.deepEqual(at.relay.state, where);
  });

  test('says what has its port, and listens when that is gone', async () => {
    await using echo = await startEcho();
    const other = createServer((socket) => socket.destroy()).listen(echo.place.port, nodeIp);
    await once(other, 'listening');
    await using at = await startRelay(() => relayed(echo.place));
    const problem = await waitFor('the problem', () => 'missing' in at.relay.state && at.relay.state.missing);
    assert.match(
      problem,
      /^pods cannot reach the API: the agent cannot listen for them on 127\.0\.0\.2:\d+: what listens there is not this API/,
    );
    assert.equal(at.relay.problem?.message, problem);
    await other[Symbol.asyncDispose]();
    await untilOpen(echo.place);
    assert.equal(at.relay.problem, undefined);
    assert.deepEqual(at.relay.state, relayed(echo.place));
  });

  test('says why pods cannot reach the API at all, once the agent knows it', async () => {
    await using early = await startRelay(() => ({ missing: 'no address' }));
    await using known = await startRelay(() => ({ missing: 'no address' }), 'some authority');
    await waitFor('the problem', () => known.relay.problem);
    assert.equal(known.relay.problem?.message, 'pods cannot reach the API: no address');
    assert.equal(early.relay.problem, undefined);
  });

  test('is not needed where the control plane listens on the address of the node itself', async () => {
    await using server = await startServer({ bindAddress: '0.0.0.0' });
    const place = { host: '127.0.0.1', port: server.port };
    const own = { address: { host: '127.0.0.1', port: server.port }, relayTo: place };
    await using at = await startRelay(() => own, server.running.ca);
    await waitFor('the control plane to be asked', () => !('missing' in at.relay.state));
    assert.deepEqual(at.relay.state, own);
  });
});
