/**
 * The watchers of bench/apiserver/watchers.ts, in a process of their own so that what they cost is not counted as the
 * server's. Knows no more of HTTP than it needs: an event is a line, and a line of the chunked framing ends with CR LF.
 */
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { Target } from './connection.ts';
import { requestBytes } from './connection.ts';
import { machineMs } from './process-cost.ts';

/** What the parent asks: to open so many watches on a path; to tell when so many events more have come, all together. */
export type Order = { open: number; path: string; target: Target } | { expect: number };
/** The time is that of the monotonic clock of the machine, in milliseconds. */
export type Report = { opened: number } | { ready: true } | { lastMs: number };

const handshakes = 32;
const [cr, lf] = [0x0d, 0x0a];
let expected = 0;

async function openWatches({ open, path, target }: Extract<Order, { open: number }>): Promise<void> {
  for (let opened = 0; opened < open; opened += handshakes) {
    const count = Math.min(handshakes, open - opened);
    await Promise.all(Array.from({ length: count }, () => openWatch(path, target)));
  }
  report({ opened: open });
}

async function openWatch(path: string, target: Target): Promise<void> {
  const socket = await openSocket(target);
  socket.write(requestBytes({ method: 'GET', path }));
  await new Promise<void>((resolve, reject) => {
    socket.once('data', (head: Buffer) => {
      if (!head.toString('latin1', 0, 16).includes(' 200 ')) reject(new Error(head.toString('utf8')));
      socket.on('data', countEvents());
      resolve();
    });
  });
}

function openSocket({ url, ca, cert, key }: Target): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca, cert, key }, () => resolve(socket));
    socket.once('error', reject);
  });
}

function countEvents(): (part: Buffer) => void {
  let before = 0;
  return (part) => {
    for (let at = part.indexOf(lf); at >= 0; at = part.indexOf(lf, at + 1)) {
      if ((at === 0 ? before : part[at - 1]) !== cr) expected -= 1;
    }
    before = part[part.length - 1] ?? 0;
    if (expected === 0) report({ lastMs: machineMs() });
  };
}

function report(message: Report): void {
  process.send?.(message);
}

process.on('message', (order: Order) => {
  if ('open' in order) void openWatches(order);
  else {
    expected = order.expect;
    report({ ready: true });
  }
});
