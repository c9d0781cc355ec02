import type { Socket } from 'node:net';
import { StatusError } from '../../api/index.ts';

/**
 * Answers what is no HTTP request, or never became a whole one, and closes the connection. No router has seen it, so
 * nothing of the rest of the server takes part; the body is a Status all the same.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const cut = setTimeout(() => socket.destroy(), longestMs);
  socket.once('close', () => clearTimeout(cut));
  socket.end(response(toldOf(error.code)), () => socket.destroy()); // destroyed at once, it would say nothing
}

/** Whoever does not take the answer in this time is cut off. */
const longestMs = 5000;

/** Codes of HTTP that have no reason of their own in a Status are told by the code alone. */
function toldOf(code: string | undefined): StatusError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new StatusError('', 'the headers of the request are too large', { code: 431 });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new StatusError('', 'the request did not come whole in time', { code: 408 });
    default:
      return new StatusError('BadRequest', 'this is no HTTP request');
  }
}

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function response(error: StatusError): string {
  const body = JSON.stringify(error.toStatus());
  const head = [
    `HTTP/1.1 ${error.code} ${phrases[error.code] ?? 'Error'}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
