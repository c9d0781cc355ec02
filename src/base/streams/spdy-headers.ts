import type { Inflate } from 'node:zlib';
import { constants, createInflate } from 'node:zlib';
import { FrameError } from './frame-reader.ts';

/*
 * Header blocks of SPDY/3 (2.6.10): the number of pairs, then each name and value behind its length, all compressed as one
 * zlib stream for each direction of the connection, with a dictionary that both sides know.
 */

/** Words of the dictionary that stand behind their length. */
const words =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow ' +
  'authorization cache-control connection content-base content-encoding content-language content-length ' +
  'content-location content-md5 content-range content-type date etag expect expires from host if-match ' +
  'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma ' +
  'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade ' +
  'user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie ' +
  'keep-alive origin';
const rest =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized' +
  '403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,' +
  'text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

export const dictionary = Buffer.concat([
  ...words.split(' ').map((word) => behindLength(word.replace('_', ' '))),
  Buffer.from(rest),
]);
/** Method, window and that a dictionary is used, which is the one with this checksum (RFC 1950, 2.2). */
const zlibHead = Buffer.from('7820e3c6a7c2', 'hex');

function behindLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

export type SpdyHeaders = Readonly<Record<string, string>>;

/** An empty one is a flush: without it some readers wait for more. */
const emptyBlock = Buffer.from('000000ffff', 'hex');

/** As a block that is stored, not deflated (RFC 1951, 3.2.4): then nothing is kept from one block to the next. */
export function formatHeaderBlock(headers: SpdyHeaders, isFirst: boolean): Buffer {
  const pairs = Object.entries(headers);
  const count = Buffer.alloc(4);
  count.writeUInt32BE(pairs.length);
  const raw = Buffer.concat([count, ...pairs.flat().map(behindLength)]);
  if (raw.length > 0xff_ff) throw new RangeError(`headers of ${raw.length} bytes`);
  const stored = Buffer.alloc(5);
  stored.writeUInt16LE(raw.length, 1);
  stored.writeUInt16LE(~raw.length & 0xff_ff, 3);
  return Buffer.concat([...(isFirst ? [zlibHead] : []), stored, raw, emptyBlock]);
}

/** No client of a stream has more than a few hundred bytes. */
const maxInflatedBytes = 16 * 1024;

const tooLarge = () => new FrameError(`headers of more than ${maxInflatedBytes} bytes`);

/** Reads the blocks of one direction, in their order. */
export class HeaderReader {
  readonly #inflate: Inflate;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor() {
    const { Z_SYNC_FLUSH } = constants;
    this.#inflate = createInflate({ dictionary, chunkSize: 4096, flush: Z_SYNC_FLUSH });
    this.#inflate.on('data', (piece: Buffer) => {
      this.#length += piece.length;
      if (this.#length <= maxInflatedBytes) this.#pieces.push(piece);
      else this.close(tooLarge());
    });
    this.#inflate.on('error', () => undefined); // each read rejects
  }

  /** Rejects for what is no block, or too large a one; no other may be read after it, nor before it is settled. */
  async read(block: Buffer): Promise<ReadonlyMap<string, string>> {
    await new Promise<void>((resolve, reject) => {
      const onClose = () => reject(new FrameError('no header can be read any more'));
      this.#inflate.once('close', onClose);
      this.#inflate.write(block, (error) => {
        this.#inflate.off('close', onClose);
        if (error == null) resolve();
        else reject(error);
      });
    });
    while (this.#inflate.read() !== null); // gives what is left to the listener
    if (this.#length > maxInflatedBytes) throw tooLarge();
    const raw = Buffer.concat(this.#pieces);
    [this.#pieces, this.#length] = [[], 0];
    return parseHeaders(raw);
  }

  close(reason?: Error): void {
    this.#inflate.destroy(reason);
  }
}

export function parseHeaders(raw: Buffer): ReadonlyMap<string, string> {
  let at = 0;
  const number = () => {
    if (at + 4 > raw.length) throw new FrameError('a block of headers ends too early');
    at += 4;
    return raw.readUInt32BE(at - 4);
  };
  const text = () => {
    const length = number();
    if (length > raw.length - at) throw new FrameError('a header is longer than its block');
    at += length;
    return raw.toString('utf8', at - length, at);
  };
  const headers = new Map<string, string>();
  for (let left = number(); left > 0; left -= 1) {
    const name = text();
    headers.set(name.toLowerCase(), text());
  }
  return headers;
}
