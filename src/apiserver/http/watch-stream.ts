import type { ServerResponse } from 'node:http';
import { StatusError } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import type { WatchRequest } from '../handlers/index.ts';
import type { Sink, Watch, WatchEnd } from '../storage/index.ts';
import type { StreamEncoding } from './event-encodings.ts';
import type { Negotiated } from './negotiate.ts';
import { statusBody } from './status-body.ts';

export interface WatchStreamOptions {
  request: WatchRequest;
  /** When the caller's credential ends, and with it the watch: wall clock, milliseconds. */
  untilMs: number;
  negotiated: Negotiated;
  /** Of the negotiated form. */
  encoding: StreamEncoding;
  response: ServerResponse;
  /** Aborts when the client is gone. */
  closed: AbortSignal;
  clock: Clock;
  log: Logger;
}

const bookmarkEveryMs = 60_000;

/**
 * Sends a watch as a chunked stream of events, JSON or protobuf (specification, sections 4.7 and 6). Returns once it is
 * over: the client went, its time was up, or the server ended it. The response is this function's from here on.
 */
export async function streamWatch(options: WatchStreamOptions): Promise<void> {
  const { request, response, closed } = options;
  const over = new AbortController();
  let watch: Watch | undefined;
  response.on('error', () => over.abort());
  watch = request.open(
    options.encoding,
    responseSink(options, over, () => watch?.resume()),
  );
  try {
    await untilOver(options, watch, AbortSignal.any([closed, over.signal]));
  } finally {
    watch[Symbol.dispose]();
    response.end();
  }
}

/** Waits for the end of the watch, with a bookmark from time to time for those who want them. */
async function untilOver(options: WatchStreamOptions, watch: Watch, over: AbortSignal): Promise<void> {
  const { request, untilMs, clock } = options;
  const endMs = clock.monotonicMs() + Math.min(request.timeoutMs, untilMs - clock.now());
  while (!over.aborted) {
    const leftMs = endMs - clock.monotonicMs();
    if (leftMs <= 0) return;
    await clock.sleep(request.bookmarks ? Math.min(leftMs, bookmarkEveryMs) : leftMs, over);
    if (request.bookmarks && !over.aborted) watch.bookmark();
  }
}

function responseSink(options: WatchStreamOptions, over: AbortController, resume: () => void): Sink {
  const { response, log } = options;
  return {
    start() {
      writeHead(response, 200, streamType(options.negotiated));
      response.flushHeaders();
    },
    push(frames) {
      const bytes = frames.length === 1 && frames[0] ? frames[0] : Buffer.concat(frames);
      if (response.write(bytes)) return true;
      response.once('drain', resume);
      return false;
    },
    end(why) {
      tellEnd(why, options);
      if (why === 'slow') {
        log.warn('a watch was cut off: its reader fell too far behind');
        response.destroy();
      }
      over.abort();
    },
  };
}

/** Frames of protobuf are called a stream, lines of JSON are not, as the reference has it. */
function streamType({ mediaType, form }: Negotiated): string {
  return form.encoding === 'protobuf' ? `${mediaType};stream=watch` : mediaType;
}

function writeHead(response: ServerResponse, code: number, mediaType: string): void {
  response.writeHead(code, {
    'content-type': mediaType,
    'cache-control': 'no-cache, private',
    vary: 'Accept',
  });
}

/** What the client is told when the server ends a watch; a stop and a slow reader are told by the end itself. */
function tellEnd(why: WatchEnd, { response, encoding, negotiated }: WatchStreamOptions): void {
  const error = endError(why);
  if (error === undefined) return;
  const status = error.toStatus();
  if (response.headersSent) {
    response.write(encoding.error(status));
  } else {
    writeHead(response, error.code, negotiated.mediaType);
    response.write(statusBody(status, negotiated.form, false));
  }
}

function endError(why: WatchEnd): StatusError | undefined {
  if (why === 'expired')
    return new StatusError('Expired', 'too old resource version: list again and watch from there');
  if (why === 'failed') return new StatusError('InternalError', 'the watch failed: start it again');
  return undefined;
}
