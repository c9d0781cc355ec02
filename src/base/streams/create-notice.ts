import type { IncomingHttpHeaders } from 'node:http';
import type { Carried, CloseNotice } from './close-notice.ts';
import { SpdyNotice } from './spdy-notice.ts';
import { WebSocketNotice } from './web-socket-notice.ts';

/** Undefined for a protocol without a way. `answer`: the headers by which the server agreed. */
export function createCloseNotice(answer: IncomingHttpHeaders, carried: Carried): CloseNotice | undefined {
  const upgraded = String(answer.upgrade).toLowerCase();
  if (upgraded === 'websocket') return new WebSocketNotice(answer['sec-websocket-protocol'] ?? '', carried);
  if (upgraded !== 'spdy/3.1') return undefined;
  return new SpdyNotice(String(answer['x-stream-protocol-version']), carried);
}
