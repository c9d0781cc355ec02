/** What servers may answer to a probe: it ends in its time, reads a bounded amount, and is a failure, never an error of the agent. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { probeAt, serveBytes, serveHttp } from './servers.ts';

const head = 'HTTP/1.1 200 OK\r\n';
/** What a server gets rid of before anybody reads: of this process' buffers and the kernel's. */
const maxUnreadBytes = 16 * 1024 * 1024;

/** Writes again and again, as fast as it is taken, until the connection ends. */
function writeWithoutEnd(socket: Socket, text: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', write);
  write();
}

/** Writes a little now and then. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 50);
  socket.once('close', () => clearInterval(timer));
}

const filler = 'x'.repeat(64 * 1024);
const hostile: Readonly<Record<string, (socket: Socket) => void>> = {
  'a header without end': (socket) => writeWithoutEnd(socket, `X-${filler}`),
  'headers without end': (socket) => {
    socket.write(head);
    writeWithoutEnd(socket, `X-A: ${'y'.repeat(1000)}\r\n`);
  },
  'one giant header': (socket) => void socket.write(`${head}X-A: ${filler.repeat(4)}\r\n\r\n`),
  'slow headers': (socket) => {
    socket.write(head);
    drip(socket, 'X-A: b\r\n');
  },
  'interim answers without end': (socket) => writeWithoutEnd(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
  'a slow body': (socket) => {
    socket.write(`${head}Content-Length: 100000\r\n\r\n`);
    drip(socket, 'x');
  },
  'a body that breaks off': (socket) => void socket.end(`${head}Content-Length: 100000\r\n\r\nabc`),
  'chunks that are none': (socket) =>
    void socket.end(`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\nno\r\n`),
  'an upgrade that nobody asked for': (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  },
  'a redirect to nowhere': (socket) => void socket.end('HTTP/1.1 302 Found\r\nLocation: http://[\r\n\r\n'),
  'a redirect to another protocol': (socket) =>
    void socket.end('HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1/\r\nContent-Length: 0\r\n\r\n'),
  'two lengths': (socket) => void socket.end(`${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
  'nothing at all': (socket) => void socket.end(),
  'a reset': (socket) => void socket.resetAndDestroy(),
};

describe('a server that answers with', { concurrency: true }, () => {
  for (const [what, answer] of Object.entries(hostile))
    test(`${what} fails its probe, and its connection is closed`, async () => {
      const closed = Promise.withResolvers<void>();
      const port = await serveBytes((socket) => {
        socket.once('close', () => closed.resolve());
        socket.once('data', () => answer(socket));
      });
      const outcome = await probeAt({ httpGet: { port, path: '/' }, timeoutSeconds: 1 });
      assert.equal(outcome.result, 'failure', JSON.stringify(outcome).slice(0, 300));
      assert.ok(JSON.stringify(outcome).length < 2000);
      await closed.promise;
    });

  for (const connection of ['keep-alive', 'Upgrade'])
    test(`200 and stays connected sees it closed, though the pod asks for ${connection}`, async () => {
      const closed = Promise.withResolvers<void>();
      const port = await serveBytes((socket) => {
        socket.once('close', () => closed.resolve());
        socket.once('data', () => socket.write(`${head}Content-Length: 0\r\n\r\n`));
      });
      const httpHeaders = [{ name: 'Connection', value: connection }];
      assert.deepEqual(await probeAt({ httpGet: { port, httpHeaders } }), { result: 'success' });
      await closed.promise;
    });

  test('nothing to a probe by a connection, or over gRPC, sees it closed', async () => {
    for (const kind of ['tcpSocket', 'grpc'] as const) {
      const closed = Promise.withResolvers<void>();
      const port = await serveBytes((socket) => socket.once('close', () => closed.resolve()).resume());
      await probeAt({ [kind]: { port }, timeoutSeconds: 1 });
      await closed.promise;
    }
  });

  test('a body without end is well, and is not read', async () => {
    let written = () => 0;
    const port = await serveBytes((socket) => {
      written = () => socket.bytesWritten;
      socket.once('data', () => {
        socket.write(`${head}\r\n`);
        writeWithoutEnd(socket, filler);
      });
    });
    assert.deepEqual(await probeAt({ httpGet: { port } }), { result: 'success' });
    assert.ok(written() < maxUnreadBytes, `${written()} bytes`);
  });

  test('a redirect with a giant body warns with its beginning only', async () => {
    const port = await serveHttp((_request, response) =>
      response.writeHead(302, { location: 'http://other.test/' }).end(filler.repeat(4)),
    );
    const outcome = await probeAt({ httpGet: { port } });
    const warning = outcome.result === 'success' ? outcome.warning : undefined;
    assert.equal(warning?.length, 'Probe terminated redirects, Response body: '.length + 10_240);
  });

  test('any bytes at all leaves the agent well', async () => {
    const line = fc.constantFrom(
      head,
      'HTTP/1.1 302 Found\r\n',
      'Location: /\r\n',
      '\r\n',
      'HTTP/2 ',
      '\u0000',
    );
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
      line.map(Buffer.from),
    );
    const answers = fc.sample(fc.array(part, { maxLength: 8 }), 200);
    let next = 0;
    const port = await serveBytes((socket) => {
      const answer = answers[next % answers.length] ?? [];
      next += 1;
      socket.once('data', () => socket.end(Buffer.concat(answer)));
    });
    const outcomes = await Promise.all(answers.map(() => probeAt({ httpGet: { port }, timeoutSeconds: 30 })));
    for (const outcome of outcomes) assert.notEqual(outcome.result, 'unknown');
    const ofGrpc = await Promise.all(
      answers.slice(0, 20).map(() => probeAt({ grpc: { port }, timeoutSeconds: 1 })),
    );
    for (const outcome of ofGrpc) assert.equal(outcome.result, 'failure');
  });
});
