import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { StatusError } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import type { WatchRequest } from '../../handlers/index.ts';
import type { Sink, Watch, WatchEnd } from '../../storage/index.ts';
import { renderStatus } from '../answers/status-body.ts';
import type { Negotiated } from '../negotiation/negotiate.ts';
import type { StreamEncoding } from './event-encodings.ts';
import { lastChunk } from './event-parts.ts';
import { toWatchError, watchTimeout } from './watch-end.ts';

/*
 * A watch as a stream of events, JSON or protobuf (specification, sections 4.7 and 6): the sink of a watch of the
 * storage, on the response of a request.
 *
 *     storage ──push──► frames (shared) ──part by part──► response ──► client
 *        ▲                                                   │
 *        └───────────── resume, when all is written ◄── drain ┘
 *
 * There may be thousands, most of them idle. So the bytes of a push are made once and shared by all watchers (`EventParts`).
 * A client that does not read holds one part in memory; the frames behind it are shared.
 */

export interface WatchStreamOptions {
  request: WatchRequest;
  /** When the caller's credential expires, and the watch ends: wall clock, milliseconds. */
  untilMs: number;
  negotiated: Negotiated;
  /** Of the negotiated form. */
  encoding: StreamEncoding;
  response: ServerResponse;
  clock: Clock;
  log: Logger;
}

const bookmarkEveryMs = 60_000;
/** The last regular bookmark comes so long before the end that a client that stops in time still gets it. */
const bookmarkBeforeEndMs = 2_000;

/** Starts to send a watch. Takes over the response, and ends it when the watch ends. */
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
  /** Pushed frames; those before `#written` are written. */
  #frames: readonly Uint8Array[] = [];
  #written = 0;
  #hasStarted = false;
  /** Whether this class makes the chunked framing of HTTP/1.1 itself. */
  #chunked = false;
  /** The stream to which events are written. */
  #output: Writable;

  constructor({ response, encoding, negotiated, clock, log }: WatchStreamOptions) {
    this.#response = response;
    this.#output = response;
    this.#encoding = encoding;
    this.#negotiated = negotiated;
    this.#clock = clock;
    this.#log = log;
  }

  open({ request, untilMs }: WatchStreamOptions): void {
    const leave = () => this.#leave();
    this.#response.once('close', leave).on('error', leave);
    if (this.#response.destroyed) return; // the client closed the connection before the listener was added
    const nowMs = this.#clock.monotonicMs();
    const endMs = nowMs + Math.min(request.timeoutMs, untilMs - this.#clock.now());
    this.#watch = request.open(this.#encoding, this);
    void this.#run(endMs, request.bookmarks);
  }

  start(): void {
    const response = this.#response;
    writeHead(response, 200, formatStreamType(this.#negotiated));
    response.flushHeaders();
    if (!response.chunkedEncoding) return; // HTTP/2 and HTTP/1.0 have no chunks
    // the response would make four writes of each chunk, for every watcher; and once it has its connection (it may have
    // to wait behind other responses), it only passes bytes on
    this.#chunked = true;
    response.chunkedEncoding = false;
    this.#output = response.socket ?? response;
  }

  push(frames: readonly Uint8Array[]): boolean {
    const rest = this.#frames.slice(this.#written);
    this.#frames = rest.length === 0 ? this.#withFirst(frames) : [...rest, ...frames];
    this.#written = 0;
    return rest.length === 0 && this.#write();
  }

  end(why: WatchEnd): void {
    const error = toWatchError(why);
    if (!this.#response.headersSent) this.#refuse(error);
    else if (why === 'slow') this.#cut();
    else this.#finish(why === 'stop' ? undefined : this.#encoding.error(error.toStatus()));
  }

  /** Waits for the end of the watch; sends bookmarks at intervals when the client asked for them. */
  async #run(endMs: number, bookmarks: boolean): Promise<void> {
    const over = this.#over.signal;
    let nextMs = bookmarks ? computeNextBookmark(this.#clock.monotonicMs(), endMs) : endMs;
    for (;;) {
      const nowMs = this.#clock.monotonicMs();
      if (nowMs < nextMs) {
        await this.#clock.sleep(nextMs - nowMs, over);
        if (over.aborted) return;
        continue; // a timer may fire a little early
      }
      if (bookmarks) this.#watch?.bookmark();
      if (nextMs >= endMs) break;
      nextMs = computeNextBookmark(nowMs, endMs);
    }
    if (this.#response.headersSent) this.#finish();
    else this.#refuse(watchTimeout());
  }

  #withFirst(frames: readonly Uint8Array[]): readonly Uint8Array[] {
    if (this.#hasStarted) return frames;
    this.#hasStarted = true;
    const [first, ...rest] = frames;
    const { first: asFirst } = this.#encoding;
    return first === undefined || asFirst === undefined ? frames : [asFirst(first), ...rest];
  }

  /** Writes until the response is full. Returns false then: after the drain it continues and resumes the watch itself. */
  #write(): boolean {
    while (this.#written < this.#frames.length) {
      const part = this.#encoding.parts.next(this.#frames, this.#written, this.#chunked);
      this.#written += part.frames.length;
      if (writeAll(this.#output, part.bytes)) continue;
      this.#output.once('drain', () => {
        if (this.#write()) this.#watch?.resume();
      });
      return false;
    }
    this.#frames = [];
    this.#written = 0;
    return true;
  }

  /** Ends the stream cleanly, after what is already written; the client can continue from the last version it got. */
  #finish(last?: Uint8Array): void {
    this.#leave();
    if (last !== undefined) {
      writeAll(this.#response, this.#encoding.parts.next([last], 0, this.#chunked).bytes);
    }
    if (this.#chunked) this.#response.write(lastChunk);
    this.#response.end();
  }

  #refuse(error: StatusError): void {
    this.#leave();
    const { mediaType, form } = this.#negotiated;
    writeHead(this.#response, error.code, mediaType, error.details?.retryAfterSeconds);
    this.#response.end(renderStatus(error.toStatus(), form, false));
  }

  #cut(): void {
    this.#leave();
    const error = new Error('a watch was cut off: its reader fell too far behind');
    this.#log.warn(error.message);
    this.#response.destroy(error); // without an error HTTP/2 would report a clean end
  }

  #leave(): void {
    this.#watch?.[Symbol.dispose]();
    this.#over.abort();
    this.#frames = [];
    this.#written = 0;
  }
}

/** Writes buffers at once; returns whether there is room for more. */
function writeAll(output: Writable, buffers: readonly Uint8Array[]): boolean {
  let hasRoom = true;
  if (buffers.length > 1) output.cork();
  for (const bytes of buffers) hasRoom = output.write(bytes);
  if (buffers.length > 1) output.uncork();
  return hasRoom;
}

function computeNextBookmark(afterMs: number, endMs: number): number {
  const lastMs = endMs - bookmarkBeforeEndMs;
  return Math.min(afterMs + bookmarkEveryMs, afterMs < lastMs ? lastMs : endMs);
}

/** As in the reference, protobuf frames have the parameter `stream=watch`, lines of JSON do not. */
function formatStreamType({ mediaType, form }: Negotiated): string {
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
