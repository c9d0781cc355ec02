import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { Duplex } from 'node:stream';
import type { Server } from '@grpc/grpc-js';
import { ServerCredentials } from '@grpc/grpc-js';
import { repairAuthority } from './authority.ts';

/** How long a peer may take to read the last bytes, in milliseconds. */
const lingerMs = 500;

/** Disposing of it ends the connections that are still open, half a second later. */
export interface Acceptor extends Disposable {
  /** Stops accepting connections; open ones are ended by the server. */
  close(): void;
}

/** Accepts connections at `path` for `server`. Rejects where it cannot listen there. */
export async function acceptAt(path: string, server: Server): Promise<Acceptor> {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const open = new Set<Socket>();
  const acceptor = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    injector.injectConnection(withRepairedRequests(socket));
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
        for (const socket of open) socket.destroy(); // those whose peers ignore that the server has ended them
      };
      setTimeout(end, lingerMs).unref(); // each of them keeps the process alive
    },
  };
}

/** Returns `socket` with requests that Node accepts. */
function withRepairedRequests(socket: Socket): Duplex {
  const repair = createRequestRepair();
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
    const next = repair(chunk);
    if (next.length > 0 && !connection.push(next)) socket.pause();
  });
  socket.once('end', () => connection.push(null));
  socket.on('error', () => connection.destroy()); // nothing else has to be done than to close it
  socket.once('close', () => connection.destroy());
  return connection;
}

/** The sizes of the connection preface, `PRI * HTTP/2.0 …` (RFC 9113, section 3.4), and of a frame's header. */
const prefaceBytes = 24;
const headBytes = 9;
const headersType = 0x01;
/** The longest frame that Node accepts; longer ones are passed on unread. */
const maxFrameBytes = 16_384;
const padded = 0x08;
const prioritized = 0x20;

/** Returns a function from each chunk that a client sends to what is to be parsed instead. Keeps back a HEADERS frame until it is complete. */
export function createRequestRepair(): (chunk: Buffer) => Buffer {
  let untouched = prefaceBytes;
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const done: Buffer[] = [];
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length > 0) {
      if (untouched === 0) {
        if (held.length < headBytes) break;
        const length = headBytes + held.readUIntBE(0, 3);
        if (held[3] === headersType && length <= headBytes + maxFrameBytes) {
          if (held.length < length) break;
          done.push(repairFrame(Buffer.from(held.subarray(0, length))));
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

function repairFrame(frame: Buffer): Buffer {
  const flags = frame[4] ?? 0;
  const padding = (flags & padded) === 0 ? 0 : (frame[headBytes] ?? 0);
  const start = headBytes + ((flags & padded) === 0 ? 0 : 1) + ((flags & prioritized) === 0 ? 0 : 5);
  const end = frame.length - padding;
  if (start > end) return frame;
  const block = repairAuthority(frame.subarray(start, end));
  const whole = Buffer.concat([frame.subarray(0, start), block, frame.subarray(end)]);
  if (whole.length > headBytes + maxFrameBytes) return frame;
  whole.writeUIntBE(whole.length - headBytes, 0, 3);
  return whole;
}
