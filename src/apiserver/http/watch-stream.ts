import type { ServerResponse } from 'node:http';
import { StatusError } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import type { WatchRequest } from '../handlers/index.ts';
import type { EventEncoding, Sink, Watch, WatchEnd } from '../storage/index.ts';

export interface WatchStreamOptions {
  request: WatchRequest;
  /** When the caller's credential ends, and with it the watch: wall clock, milliseconds. */
  untilMs: number;
  encoding: EventEncoding;
  response: ServerResponse;
  /** Aborts when the client is gone. */
  closed: AbortSignal;
  clock: Clock;
  log: Logger;
}

const bookmarkEveryMs = 60_000;

/**
 * Sends a watch as chunked JSON, one event a line (specification, sections 4.7 and 6). Returns once it is over: the
 * client went, its time was up, or the server ended it. The response is this function's from here on.
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

function responseSink(
  { response, log }: WatchStreamOptions,
  over: AbortController,
  resume: () => void,
): Sink {
  return {
    start() {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
      response.flushHeaders();
    },
    push(frames) {
      const bytes = frames.length === 1 && frames[0] ? frames[0] : Buffer.concat(frames);
      if (response.write(bytes)) return true;
      response.once('drain', resume);
      return false;
    },
    end(why) {
      tellEnd(why, response);
      if (why === 'slow') {
        log.warn('a watch was cut off: its reader fell too far behind');
        response.destroy();
      }
      over.abort();
    },
  };
}

/** What the client is told when the server ends a watch; a stop and a slow reader are told by the end itself. */
function tellEnd(why: WatchEnd, response: ServerResponse): void {
  const error = endError(why);
  if (error === undefined) return;
  const status = error.toStatus();
  if (response.headersSent) {
    response.write(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
  } else {
    response.writeHead(error.code, { 'content-type': 'application/json' });
    response.write(JSON.stringify(status));
  }
}

function endError(why: WatchEnd): StatusError | undefined {
  if (why === 'expired')
    return new StatusError('Expired', 'too old resource version: list again and watch from there');
  if (why === 'failed') return new StatusError('InternalError', 'the watch failed: start it again');
  return undefined;
}
