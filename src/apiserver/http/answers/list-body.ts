import type { ListHead } from '../../../api/index.ts';
import type { Splice } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';

/** A body that is generated while it is sent. */
export interface LongBody {
  /** In bytes. */
  readonly length: number;
  /** The whole body, in order. The bytes of a piece are valid until the next one is requested. */
  pieces(): Iterable<Buffer>;
}

/** Large enough that the cost of a write does not matter, small enough that many bodies can be in transit at once. */
const pieceBytes = 256 * 1024;
const comma = 0x2c;
const end = Buffer.from(']}');

/** A list in JSON, joined from stored bytes. Of a long list only one piece is in memory at a time. */
export function stitchList(
  { kind, apiVersion, metadata }: ListHead,
  items: readonly Stored[],
  splice: Splice,
): LongBody {
  const head = Buffer.from(`${JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)},"items":[`);
  let length = head.length + end.length + Math.max(0, items.length - 1);
  for (const item of items) length += splice.size(item);
  return {
    length,
    *pieces() {
      let piece = Buffer.allocUnsafeSlow(Math.min(length, pieceBytes));
      let at = head.copy(piece);
      let isFirst = true;
      for (const item of items) {
        const size = splice.size(item) + 1;
        if (at + size > piece.length) {
          yield piece.subarray(0, at);
          if (size > piece.length) piece = Buffer.allocUnsafeSlow(size);
          at = 0;
        }
        if (!isFirst) piece[at++] = comma;
        isFirst = false;
        at = splice.write(item, piece, at);
      }
      if (at + end.length > piece.length) {
        yield piece.subarray(0, at);
        at = 0;
      }
      yield piece.subarray(0, at + end.copy(piece, at));
    },
  };
}

/** Returns the whole body in one buffer. */
export function joinBody(body: LongBody): Buffer {
  const whole = Buffer.allocUnsafe(body.length);
  let at = 0;
  for (const piece of body.pieces()) at += piece.copy(whole, at);
  return whole;
}

/** Returns a body that would fit into a single piece as a buffer, any other as it is. */
export function joinWhenShort(body: LongBody): Buffer | LongBody {
  if (body.length > pieceBytes) return body;
  const [first = Buffer.alloc(0)] = body.pieces();
  return first.length === body.length ? first : joinBody(body);
}
