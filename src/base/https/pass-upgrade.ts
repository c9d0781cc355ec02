import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Carried, JoinOptions } from '../streams/index.ts';
import { createCloseNotice, joinStreams } from '../streams/index.ts';
import type { Upgrade } from './upgrades.ts';

/*
 * A request that asks for another protocol is passed on, and when the other side agrees its connection and the caller's are
 * joined, byte by byte: each side is read only as fast as the other one takes it.
 */

/** What the other side answered when it did not agree. */
export interface Declined {
  readonly code: number;
  readonly contentType: string;
  /** At most its first 64 KiB. */
  readonly text: string;
}

/** The other side agreed: its answer, and its connection, which is at its first byte of the other protocol. */
export interface Agreed {
  readonly code: number;
  readonly answer: IncomingMessage;
  readonly socket: Socket;
}

export interface AskOptions {
  /** With its headers, not sent yet. */
  readonly asking: ClientRequest;
  /** Of the caller. */
  readonly upgrade: Upgrade;
  /** Ends the wait for an answer. */
  readonly signal: AbortSignal;
}

export interface PassOptions extends AskOptions, JoinOptions {
  readonly carried: Carried;
  /** Called when the other side agrees, before anything is sent to the caller. */
  onAgreed(code: number): void;
}

/** Headers of the request that make and name the other protocol; each stands on a line of its own, as it came. */
const asksFor = [
  ...['connection', 'upgrade', 'x-stream-protocol-version'],
  ...['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol', 'sec-websocket-extensions'],
];

/** What of a request's headers asks for another protocol. */
export function upgradeHeaders({
  headersDistinct,
}: Pick<IncomingMessage, 'headersDistinct'>): Record<string, string[]> {
  return Object.fromEntries(
    asksFor.flatMap((name): [string, string[]][] => {
      const values = headersDistinct[name];
      return values === undefined ? [] : [[name, values]];
    }),
  );
}

/** Resolves when both connections are over; earlier, with the answer, where the other side did not agree. Rejects when it cannot be asked. */
export async function passUpgrade(options: PassOptions): Promise<Declined | undefined> {
  const { upgrade, carried, onAgreed } = options;
  const agreed = await askUpgrade(options);
  if (!('answer' in agreed)) return agreed;
  const { code, answer, socket } = agreed;
  onAgreed(code);
  upgrade.take(code);
  if (upgrade.head.length > 0) upgrade.socket.unshift(upgrade.head);
  upgrade.socket.write(formatHead(answer));
  await joinStreams(upgrade.socket, socket, createCloseNotice(answer.headers, carried), options);
  return undefined;
}

/** Sends the request. Rejects when the other side cannot be asked, and when the caller goes before it has answered. */
export async function askUpgrade({ asking, upgrade, signal }: AskOptions): Promise<Agreed | Declined> {
  const { promise, resolve, reject } = Promise.withResolvers<Agreed | Declined>();
  const stop = () => asking.destroy();
  const gone = () => asking.destroy(new Error('the caller is gone'));
  const { socket: caller } = upgrade;
  caller.once('close', gone).once('end', gone); // nobody ends what has not begun
  signal.addEventListener('abort', stop, { once: true });
  asking.once('error', reject);
  asking.once('response', (answer) => readDeclined(answer).then(resolve, reject));
  asking.once('upgrade', (answer, socket: Socket, head) => {
    socket.pause();
    if (head.length > 0) socket.unshift(head);
    for (const each of [caller, socket]) each.setNoDelay(true).setTimeout(0);
    resolve({ code: answer.statusCode ?? 101, answer, socket });
  });
  if (signal.aborted || caller.destroyed || caller.readableEnded) gone();
  asking.end();
  try {
    return await promise;
  } finally {
    caller.off('close', gone).off('end', gone);
    signal.removeEventListener('abort', stop);
  }
}

/** What of an answer agrees to another protocol: nothing else of it is meant for this server's address. */
const agreesBy = /^(?:connection|upgrade|x-stream-protocol-version|sec-websocket-.*)$/i;

function formatHead({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (agreesBy.test(rawHeaders[at] ?? '')) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const maxTextBytes = 64 * 1024;

async function readDeclined(answer: IncomingMessage): Promise<Declined> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of answer) {
    if (length < maxTextBytes && Buffer.isBuffer(piece)) pieces.push(piece);
    length += piece.length;
    if (length >= maxTextBytes) break;
  }
  const text = Buffer.concat(pieces).subarray(0, maxTextBytes).toString();
  return {
    code: answer.statusCode ?? 502,
    contentType: answer.headers['content-type'] ?? 'text/plain',
    text,
  };
}
