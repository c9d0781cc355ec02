import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { Duplex } from 'node:stream';
import type { Server } from '@grpc/grpc-js';
import { ServerCredentials } from '@grpc/grpc-js';
import { mendAuthority } from './authority.ts';

/** How long a peer may take to read what was said last, in milliseconds. */
const farewellMs = 500;

/** Disposing of it ends the connections that there still are, half a second later. */
export interface Acceptor extends Disposable {
  /** Takes no more connections; those that stand are the server's to end. */
  close(): void;
}

/** Takes connections at `path` for `server`. Rejects where it cannot listen there. */
export async function acceptAt(path: string, server: Server): Promise<Acceptor> {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const open = new Set<Socket>();
  const acceptor = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    injector.injectConnection(mended(socket));
  });
  acceptor.listen(path);
  await once(acceptor, 'listening');
  acceptor.on('error', () => undefined); // one connection could not be accepted; the next may be
  const close = () => void acceptor.close();
  return {
    close,
    [Symbol.dispose]() {
      close();
      const end = () => {
        for (const socket of open) socket.destroy(); // of peers that do not see that the server has ended them
      };
      setTimeout(end, farewellMs).unref(); // each of them keeps the process alive
    },
  };
}

/** The other side of `socket` says things as Node takes them. */
function mended(socket: Socket): Duplex {
  const mend = requestMender();
  const connection = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Uint8Array, _encoding, done) => void socket.write(chunk, (error) => done(error)),
    final: (done) => void socket.end(() => done()),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (chunk) => {
    const next = mend(chunk);
    if (next.length > 0 && !connection.push(next)) socket.pause();
  });
  socket.once('end', () => connection.push(null));
  socket.on('error', () => connection.destroy()); // that it is closed is all that there is to know
  socket.once('close', () => connection.destroy());
  return connection;
}

/** PRI * HTTP/2.0 … (RFC 9113, section 3.4), and what is in front of each frame. */
const prefaceBytes = 24;
const headBytes = 9;
const headersType = 0x01;
/** Of a frame that is looked into, the longest that Node takes from anybody. */
const maxBytes = 16_384;
const padded = 0x08;
const prioritized = 0x20;

/** Takes what a client sends as it comes, and answers what is to be read instead. Holds back a frame of fields until it is whole. */
export function requestMender(): (chunk: Buffer) => Buffer {
  let untouched = prefaceBytes;
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const done: Buffer[] = [];
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length > 0) {
      if (untouched === 0) {
        if (held.length < headBytes) break;
        const length = headBytes + held.readUIntBE(0, 3);
        if (held[3] === headersType && length <= headBytes + maxBytes) {
          if (held.length < length) break;
          done.push(mendFrame(Buffer.from(held.subarray(0, length))));
          held = held.subarray(length);
          continue;
        }
        untouched = length;
      }
      const passed = held.subarray(0, untouched);
      untouched -= passed.length;
      done.push(passed);
      held = held.subarray(passed.length);
    }
    return done.length === 1 && done[0] !== undefined ? done[0] : Buffer.concat(done);
  };
}

function mendFrame(frame: Buffer): Buffer {
  const flags = frame[4] ?? 0;
  const padding = (flags & padded) === 0 ? 0 : (frame[headBytes] ?? 0);
  const start = headBytes + ((flags & padded) === 0 ? 0 : 1) + ((flags & prioritized) === 0 ? 0 : 5);
  const end = frame.length - padding;
  if (start > end) return frame;
  const block = mendAuthority(frame.subarray(start, end));
  const whole = Buffer.concat([frame.subarray(0, start), block, frame.subarray(end)]);
  if (whole.length > headBytes + maxBytes) return frame;
  whole.writeUIntBE(whole.length - headBytes, 0, 3);
  return whole;
}
