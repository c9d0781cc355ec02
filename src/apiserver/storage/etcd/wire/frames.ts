import { GrpcError, grpcCodes } from './grpc-error.ts';

/** For an answer. A page whose values are larger than expected is requested again in smaller pages. */
export const receiveLimitBytes = 64 * 1024 * 1024;

/** Before each message: whether it is compressed, and how long it is. */
const headBytes = 5;

/** A message in gRPC's framing. */
export function encodeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, headBytes);
  return frame;
}

/** Splits received bytes into messages. Throws a GrpcError for one that is too long or compressed. */
export class Frames {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** The messages that end with this piece. */
  take(piece: Buffer): readonly Buffer[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const messages: Buffer[] = [];
    for (let length = this.#length(); length !== undefined; length = this.#length()) {
      if (this.#bytes < headBytes + length) break;
      const all = this.#joined();
      messages.push(all.subarray(headBytes, headBytes + length));
      const rest = all.subarray(headBytes + length);
      this.#pieces = rest.length === 0 ? [] : [rest];
      this.#bytes = rest.length;
    }
    return messages;
  }

  /** Of the next message; undefined while its head is not there. */
  #length(): number | undefined {
    if (this.#bytes < headBytes) return undefined;
    const first = this.#pieces[0];
    const head = first !== undefined && first.length >= headBytes ? first : this.#joined();
    const length = head.readUInt32BE(1);
    if (head[0] !== 0)
      throw new GrpcError(grpcCodes.INTERNAL, 'a compressed message, which was not asked for');
    if (length <= receiveLimitBytes) return length;
    const sizes = `${length} bytes, at most ${receiveLimitBytes} are taken`;
    throw new GrpcError(grpcCodes.RESOURCE_EXHAUSTED, `a message of ${sizes}`);
  }

  #joined(): Buffer {
    const [only, ...others] = this.#pieces;
    if (only !== undefined && others.length === 0) return only;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }
}
