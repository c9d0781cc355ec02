import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { StatusError } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import type { WatchRequest } from '../../handlers/index.ts';
import type { Sink, Watch, WatchEnd } from '../../storage/index.ts';
import { statusBody } from '../answers/status-body.ts';
import type { Negotiated } from '../negotiation/negotiate.ts';
import type { StreamEncoding } from './event-encodings.ts';
import { lastChunk } from './event-parts.ts';
import { endOfWatch, timeIsUp } from './watch-end.ts';

/*
 * A watch as a stream of events, JSON or protobuf (specification, sections 4.7 and 6): the sink of a watch of the
 * storage, on the response of a request.
 *
 *     storage ──push──► frames (shared) ──part by part──► response ──► client
 *        ▲                                                   │
 *        └───────────── resume, when all is written ◄── drain ┘
 *
 * There may be thousands, most of them idle. So what is made for a push is made once for all (`EventParts`), and a
 * reader that stands still keeps one part of its own in memory; the frames behind it belong to all.
 */

export interface WatchStreamOptions {
  request: WatchRequest;
  /** When the caller's credential ends, and with it the watch: wall clock, milliseconds. */
  untilMs: number;
  negotiated: Negotiated;
  /** Of the negotiated form. */
  encoding: StreamEncoding;
  response: ServerResponse;
  clock: Clock;
  log: Logger;
}

const bookmarkEveryMs = 60_000;
/** The last regular bookmark comes so long before the end, so that a client that leaves on time has it. */
const bookmarkBeforeEndMs = 2_000;

/** Begins to send a watch. The response is this function's from here on; the stream ends by itself. */
export function streamWatch(options: WatchStreamOptions): void {
  new WatchStream(options).open(options);
}

class WatchStream implements Sink {
  readonly #response: ServerResponse;
  readonly #encoding: StreamEncoding;
  readonly #negotiated: Negotiated;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #over = new AbortController();
  #watch: Watch | undefined;
  /** Pushed, and written up to `#written`. */
  #frames: readonly Uint8Array[] = [];
  #written = 0;
  #begun = false;
  /** Whether the chunks of HTTP/1.1 are made here. */
  #chunked = false;
  /** Where events are written. */
  #out: Writable;

  constructor({ response, encoding, negotiated, clock, log }: WatchStreamOptions) {
    this.#response = response;
    this.#out = response;
    this.#encoding = encoding;
    this.#negotiated = negotiated;
    this.#clock = clock;
    this.#log = log;
  }

  open({ request, untilMs }: WatchStreamOptions): void {
    const leave = () => this.#leave();
    this.#response.once('close', leave).on('error', leave);
    if (this.#response.destroyed) return; // the client went before anybody listened
    const nowMs = this.#clock.monotonicMs();
    const endMs = nowMs + Math.min(request.timeoutMs, untilMs - this.#clock.now());
    this.#watch = request.open(this.#encoding, this);
    void this.#live(endMs, request.bookmarks);
  }

  start(): void {
    const response = this.#response;
    writeHead(response, 200, streamType(this.#negotiated));
    response.flushHeaders();
    if (!response.chunkedEncoding) return; // HTTP/2 and HTTP/1.0 have no chunks
    // left to itself, the response makes four writes of each chunk, for each watcher anew; and once it has its
    // connection (it may have to wait behind others), what it would do with bytes is only to hand them on
    this.#chunked = true;
    response.chunkedEncoding = false;
    this.#out = response.socket ?? response;
  }

  push(frames: readonly Uint8Array[]): boolean {
    const rest = this.#frames.slice(this.#written);
    this.#frames = rest.length === 0 ? this.#withFirst(frames) : [...rest, ...frames];
    this.#written = 0;
    return rest.length === 0 && this.#write();
  }

  end(why: WatchEnd): void {
    const error = endOfWatch(why);
    if (!this.#response.headersSent) this.#refuse(error);
    else if (why === 'slow') this.#cut();
    else this.#finish(why === 'stop' ? undefined : this.#encoding.error(error.toStatus()));
  }

  /** Waits for the end of the watch, with a bookmark from time to time for those who want them. */
  async #live(endMs: number, bookmarks: boolean): Promise<void> {
    const over = this.#over.signal;
    let nextMs = bookmarks ? nextBookmark(this.#clock.monotonicMs(), endMs) : endMs;
    for (;;) {
      const nowMs = this.#clock.monotonicMs();
      if (nowMs < nextMs) {
        await this.#clock.sleep(nextMs - nowMs, over);
        if (over.aborted) return;
        continue; // a timer may fire a little early
      }
      if (bookmarks) this.#watch?.bookmark();
      if (nextMs >= endMs) break;
      nextMs = nextBookmark(nowMs, endMs);
    }
    if (this.#response.headersSent) this.#finish();
    else this.#refuse(timeIsUp());
  }

  #withFirst(frames: readonly Uint8Array[]): readonly Uint8Array[] {
    if (this.#begun) return frames;
    this.#begun = true;
    const [first, ...rest] = frames;
    const { first: asFirst } = this.#encoding;
    return first === undefined || asFirst === undefined ? frames : [asFirst(first), ...rest];
  }

  /** Writes until the response takes no more. False: it goes on by itself, and then the watch does. */
  #write(): boolean {
    while (this.#written < this.#frames.length) {
      const part = this.#encoding.parts.next(this.#frames, this.#written, this.#chunked);
      this.#written += part.frames.length;
      if (this.#out.write(part.bytes)) continue;
      this.#out.once('drain', () => {
        if (this.#write()) this.#watch?.resume();
      });
      return false;
    }
    this.#frames = [];
    this.#written = 0;
    return true;
  }

  /** In order, after what is written already; a client goes on from the last version that it saw. */
  #finish(last?: Uint8Array): void {
    this.#leave();
    if (last !== undefined) this.#response.write(this.#encoding.parts.next([last], 0, this.#chunked).bytes);
    if (this.#chunked) this.#response.write(lastChunk);
    this.#response.end();
  }

  #refuse(error: StatusError): void {
    this.#leave();
    const { mediaType, form } = this.#negotiated;
    writeHead(this.#response, error.code, mediaType, error.details?.retryAfterSeconds);
    this.#response.end(statusBody(error.toStatus(), form, false));
  }

  #cut(): void {
    this.#leave();
    const error = new Error('a watch was cut off: its reader fell too far behind');
    this.#log.warn(error.message);
    this.#response.destroy(error); // with HTTP/2 it would count as ended in order without one
  }

  #leave(): void {
    this.#watch?.[Symbol.dispose]();
    this.#over.abort();
    this.#frames = [];
    this.#written = 0;
  }
}

function nextBookmark(afterMs: number, endMs: number): number {
  const lastMs = endMs - bookmarkBeforeEndMs;
  return Math.min(afterMs + bookmarkEveryMs, afterMs < lastMs ? lastMs : endMs);
}

/** Frames of protobuf are called a stream, lines of JSON are not, as the reference has it. */
function streamType({ mediaType, form }: Negotiated): string {
  return form.encoding === 'protobuf' ? `${mediaType};stream=watch` : mediaType;
}

function writeHead(response: ServerResponse, code: number, mediaType: string, retryAfter?: number): void {
  response.writeHead(code, {
    'content-type': mediaType,
    'cache-control': 'no-cache, private',
    vary: 'Accept',
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  });
}
