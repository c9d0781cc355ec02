/**
 * The least that can tell many clients of a change over TLS: on a PUT it writes the same bytes, made once, to every
 * connection that has asked with `watch`. What an event costs there is what TLS and the kernel cost; the rest is ours.
 * Run by bench/apiserver/watchers.ts with the files of a certificate and its key.
 */
import { readFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';

const [cert = '', key = '', size = '800'] = process.argv.slice(2);
const body = `${'x'.repeat(Number(size) - 1)}\n`;
const event = Buffer.from(`${body.length.toString(16)}\r\n${body}\r\n`);
const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const streamed = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const watchers = new Set<TLSSocket>();

const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.once('close', () => watchers.delete(socket));
  socket.on('data', (request: Buffer) => {
    const line = request.toString('latin1', 0, 200).split('\r\n', 1)[0] ?? '';
    if (line.includes('watch=')) {
      watchers.add(socket);
      socket.write(streamed);
      return;
    }
    if (line.startsWith('PUT')) for (const watcher of watchers) watcher.write(event);
    socket.write(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.stdout.write(`${address.port}\n`);
});
process.once('SIGTERM', () => process.exit(0));
