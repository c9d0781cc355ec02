import assert from 'node:assert/strict';
import { connect as connectPlain } from 'node:net';
import { describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { bellClock, leases, named, nodes, startServer } from '../support/index.ts';

const request = `GET ${nodes} HTTP/1.1\r\nhost: x\r\n\r\n`;

describe('the stop of the server', () => {
  test('ends watches in order, idle connections at once, and is quick', async () => {
    await using server = await startServer();
    const watches = await Promise.all(
      Array.from({ length: 20 }, () => server.admin.watch(leases('default'))),
    );
    const table = await server.admin.watch(nodes, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    using idle = await server.admin.raw();
    assert.equal(await idle.exchange(request), 200);
    using fresh = await server.admin.raw();
    const tookMs = await server.stop();
    assert.ok(tookMs < 1000, `${tookMs} ms`);
    for (const watch of [...watches, table]) {
      await watch.ended;
      assert.ok(watch.isComplete, 'ended with its last chunk');
    }
    await idle.untilClosed();
    await fresh.untilClosed();
    await assert.rejects(server.admin.request('GET', nodes));
  });

  test('waits for no one who has sent half a request, or none, or speaks no TLS', async () => {
    await using server = await startServer();
    using half = await server.admin.raw();
    half.write(request.slice(0, 20));
    using halfBody = await server.admin.raw();
    halfBody.write(`POST ${nodes} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{`);
    const silent = connectPlain({ port: server.port, host: '127.0.0.1' });
    silent.on('error', () => undefined);
    await new Promise((resolve) => silent.once('connect', resolve));
    await server.admin.request('GET', nodes);
    const tookMs = await server.stop();
    assert.ok(tookMs < 3000, `${tookMs} ms`);
    await half.untilClosed();
    await halfBody.untilClosed();
    await waitFor('the silent one to be closed', () => silent.destroyed || silent.closed);
  });

  test('lets a request finish that has begun, and refuses what comes after it', async () => {
    const clock = bellClock(3000);
    await using server = await startServer({ clock });
    using waiting = await server.admin.raw();
    // it waits for a version that does not come, until the bell rings, so it is there while the server stops
    waiting.write(`GET ${nodes}/x?resourceVersion=99999999 HTTP/1.1\r\nhost: x\r\n\r\n`);
    using late = await server.admin.raw();
    const body = JSON.stringify(named('late'));
    const bytes = `POST ${nodes} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
    late.write(bytes.replace(/\r\n$/, 'expect: 100-continue\r\n\r\n') + body.slice(0, 5));
    await late.until(/HTTP\/1.1 100 Continue/);
    await waitFor('it to wait', () => clock.sleepers === 1);
    const stopped = server.stop();
    await waitFor('the stop to begin', () => refusesConnections(server.port));
    late.write(`${body.slice(5)}${bytes}${body}`);
    await waitFor('two answers', () => late.codes.length === 3);
    assert.deepEqual(late.codes, [100, 201, 503], 'the one that was begun, and the next');
    assert.match(late.received, /"kind":"Status".*"reason":"ServiceUnavailable"/);
    assert.match(late.received, /retry-after: 1/i);
    assert.deepEqual(waiting.codes, [], 'it has not finished before');
    clock.ring();
    assert.ok((await stopped) < 4000);
    await waiting.untilClosed();
    assert.deepEqual(waiting.codes, [504]);
  });

  test('a server that is stopped while it starts ends too', async () => {
    const server = await startServer();
    await Promise.all([server.stop(), server.stop()]);
    await server[Symbol.asyncDispose]();
  });
});

async function refusesConnections(port: number): Promise<boolean> {
  const socket = connectPlain({ port, host: '127.0.0.1' });
  const refused = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  });
  socket.destroy();
  return refused;
}
