import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { FrameReader, webSocketFormat } from '../../base/streams/index.ts';

/*
 * A message is in memory until it is whole, and until the other side has taken it. Clients of the reference send a few tens of
 * kilobytes in one; the larger ones of all clients share what there is for them, so that many clients cannot fill the memory, and those of one user have a
 * part of it, so that no user takes all.
 */

/** Messages up to this are not counted: there are as many as connections. */
const smallBytes = 64 * 1024;
/** Of the larger ones of all clients. */
const maxHeldBytes = 64 * 1024 * 1024;
/** How many users fill it. */
const usersThatFill = 4;
/** RFC 6455, 11.7: a temporary condition of the server. */
const tryAgainLater = 1013;
const controlOpcodes = 8;

/** What the messages of all clients hold. */
export class MessageMemory {
  readonly #maxBytes: number;
  /** By user; of each connection. */
  readonly #held = new Map<string, Set<() => number>>();

  constructor(maxBytes: number = maxHeldBytes) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Follows the messages of a client, and closes the connection with 1013 where there is no room for one. `socket` is the
   * connection, `user` who has opened it; `waitingBytes` returns how much of whole messages the other side has not taken yet.
   */
  watch(webSocket: WebSocket, socket: Socket, user: string, waitingBytes: () => number): void {
    let messageBytes = 0;
    let isLast = false;
    const held = () => messageBytes + waitingBytes();
    const reader = new FrameReader(webSocketFormat, {
      onHead: (head) => {
        const first = head.readUInt8(0);
        isLast = (first & 0x80) !== 0 && (first & 0x0f) < controlOpcodes;
        if ((first & 0x0f) < controlOpcodes) messageBytes += webSocketFormat.payloadBytes(head);
        if (messageBytes > smallBytes && !this.#hasRoom(user)) refuse(webSocket);
      },
      onPayload: () => undefined,
      onEnd: () => {
        if (isLast) messageBytes = 0;
      },
    });
    const follow = (bytes: Buffer) => {
      try {
        reader.read(bytes);
      } catch {
        socket.off('data', follow); // the library closes the connection
      }
    };
    socket.prependListener('data', follow);
    this.#add(user, held);
    if (socket.destroyed) this.#remove(user, held);
    else socket.once('close', () => this.#remove(user, held));
  }

  #hasRoom(user: string): boolean {
    if (sumOf(this.#held.get(user) ?? []) > this.#maxBytes / usersThatFill) return false;
    return this.#held.values().reduce((sum, each) => sum + sumOf(each), 0) <= this.#maxBytes;
  }

  #add(user: string, held: () => number): void {
    const ofUser = this.#held.get(user) ?? new Set();
    this.#held.set(user, ofUser.add(held));
  }

  #remove(user: string, held: () => number): void {
    const ofUser = this.#held.get(user);
    ofUser?.delete(held);
    if (ofUser?.size === 0) this.#held.delete(user);
  }
}

function sumOf(all: Iterable<() => number>): number {
  return Iterator.from(all).reduce((sum, held) => sum + held(), 0);
}

/** Nothing more is read of it; the library cuts it when it has had time to learn why. */
function refuse(webSocket: WebSocket): void {
  webSocket.close(tryAgainLater, 'there is no room for large messages now: send smaller ones');
  webSocket.pause();
}
