import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { StatusError } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { JoinOptions } from '../../base/streams/index.ts';
import { bodyOf } from './body.ts';
import type { ExchangeOptions } from './exchange.ts';
import { Exchange } from './exchange.ts';

/** How long the parts of an exchange may take. For the first three, 0: as long as it takes. */
export interface ProxyTimes {
  /** Until an answer begins, of a request that reads. */
  readonly readMs: number;
  /** The same of any other. */
  readonly workMs: number;
  /** Between two pieces of an answer. */
  readonly idleMs: number;
  /** How long the caller may take no bytes. */
  readonly stallMs: number;
  /** All together. */
  readonly totalMs: number;
}

export const minuteMs = 60_000;
/** Of an answer that lasts as long as its reader wants: only a reader that is there and takes nothing is ended. */
export const streamTimes: ProxyTimes = {
  readMs: 0, // for undici: no limit
  workMs: 0,
  idleMs: 0,
  stallMs: 4 * 60 * minuteMs,
  totalMs: Number.POSITIVE_INFINITY,
};

export interface Forwarded
  extends Pick<ExchangeOptions, 'peer' | 'onAnswer' | 'refuse' | 'through' | 'toCaller' | 'untrusted'> {
  /** Path and query at the other side. */
  target: string;
  /** The headers for the other side of those of the request. */
  toPeer(headers: IncomingHttpHeaders, hasBody: boolean): Record<string, string | string[]>;
  /** When the caller's credential expires, and the request is ended: wall clock, milliseconds. */
  untilMs: number;
  bodyLimitBytes: number;
  request: IncomingMessage;
  response: ServerResponse;
}

/** Sends a request on, and its answer back. Resolves when all is over; rejects with a StatusError where no answer has begun. */
export async function forward(
  asked: Forwarded,
  dispatcher: Dispatcher,
  times: ProxyTimes,
  clock: Clock,
): Promise<void> {
  const { request, target } = asked;
  const { method = 'GET', headers } = request;
  const body = bodyOf(request, asked.bodyLimitBytes);
  const passing = new Exchange({ ...asked, stallMs: times.stallMs });
  using _bounds = limitExchange(passing, asked, times.totalMs, clock);
  dispatcher.dispatch(
    {
      method,
      path: target,
      headers: asked.toPeer(headers, body !== undefined),
      body: body ?? null,
      headersTimeout: ['GET', 'HEAD'].includes(method) ? times.readMs : times.workMs,
      bodyTimeout: times.idleMs,
    },
    passing,
  );
  await passing.done;
}

/** Ends an exchange when the caller is gone, its credential ends, or it has taken all the time there is. */
function limitExchange(
  passing: Exchange,
  { request, response, untilMs }: Forwarded,
  totalMs: number,
  clock: Clock,
): Disposable {
  const gone = () => passing.cancel(new Error('the caller is gone'));
  const late = new StatusError('Timeout', 'the request has taken all the time that it may');
  const over = new AbortController();
  void clock.sleep(Math.max(0, Math.min(totalMs, untilMs - clock.now())), over.signal).then(() => {
    if (!over.signal.aborted) passing.cancel(late);
  });
  // a response that waits behind another one on its connection gets no event when the connection closes
  const waits = response.socket === null;
  response.once('close', gone);
  if (waits) request.socket.once('close', gone);
  if (response.destroyed) gone();
  return {
    [Symbol.dispose]() {
      over.abort();
      response.off('close', gone);
      if (waits) request.socket.off('close', gone);
    },
  };
}

/** What ends a stream from this side. */
export interface StreamEnds {
  /** When the caller's credential expires: wall clock, milliseconds. */
  readonly untilMs: number;
  /** Aborts when this server stops. */
  readonly stopping: AbortSignal;
  readonly clock: Clock;
}

/** Runs a stream; `signal` aborts with the first of its ends, each of which tells the client why. */
export async function untilEnded<T>(
  { untilMs, stopping, clock }: StreamEnds,
  run: (joining: JoinOptions, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const over = new AbortController();
  void clock.sleep(Math.max(0, untilMs - clock.now()), over.signal).then(() => late.abort());
  const endings = [
    { signal: stopping, text: 'the server is stopping' },
    { signal: late.signal, text: 'the credential with which the stream began has expired' },
  ];
  try {
    const joining = { endings, clock, idleMs: streamTimes.stallMs };
    return await run(joining, AbortSignal.any([stopping, late.signal]));
  } finally {
    over.abort();
  }
}
