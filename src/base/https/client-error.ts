import type { Socket } from 'node:net';
import { errorCode } from '../errors.ts';

/** The HTTP status for what is not a complete request: no HTTP, too slow, or headers too large. */
export type ClientErrorCode = 400 | 408 | 431;

export interface ErrorBody {
  readonly contentType: string;
  readonly body: string;
}

const phrases: Readonly<Record<ClientErrorCode, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** How long the client may take to read the answer before it is cut off. */
const answerMs = 5000;

/** Answers what is not a complete HTTP request, and ends the connection. Neither router nor hooks are involved. */
export function answerClientError(
  error: Error,
  socket: Socket,
  format: (code: ClientErrorCode) => ErrorBody = formatText,
): void {
  const cause = errorCode(error);
  if (cause === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const cut = setTimeout(() => socket.destroy(), answerMs);
  socket.once('close', () => clearTimeout(cut));
  const code = statusOf(cause);
  socket.end(responseOf(code, format(code)), () => socket.destroy()); // only then: destroying it at once would send nothing
}

function statusOf(cause: string | undefined): ClientErrorCode {
  if (cause === 'HPE_HEADER_OVERFLOW') return 431;
  return cause === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

function responseOf(code: ClientErrorCode, { contentType, body }: ErrorBody): string {
  const head = [
    `HTTP/1.1 ${code} ${phrases[code]}`,
    `content-type: ${contentType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function formatText(code: ClientErrorCode): ErrorBody {
  return { contentType: 'text/plain; charset=utf-8', body: `${code} ${phrases[code]}` };
}
