import { connect } from 'node:tls';
import type { Sent, Target } from './connection.ts';
import { requestBytes } from './connection.ts';

const mark = Buffer.from('k8s.io/initial-events-end');

/** Opens a watch and reads it up to the bookmark behind the initial objects. Returns how many bytes came. */
export async function readStreamedList(target: Target, request: Sent): Promise<number> {
  const { hostname, port } = new URL(target.url);
  const { ca, cert, key } = target;
  const socket = connect({ host: hostname, port: Number(port), ca, cert, key });
  socket.once('secureConnect', () => socket.write(requestBytes(request)));
  let received = 0;
  let tail = Buffer.alloc(0);
  for await (const part of socket) {
    if (!Buffer.isBuffer(part)) continue;
    received += part.length;
    const end = Buffer.concat([tail, part]);
    if (end.includes(mark)) return received; // which ends the connection too
    tail = end.subarray(-mark.length);
  }
  throw new Error(`the watch ended after ${received} bytes, before its bookmark`);
}
