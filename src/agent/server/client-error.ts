import type { Socket } from 'node:net';
import { errorCode } from '../../base/index.ts';

const answers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers what is no HTTP request, or comes too slowly to become one, and ends the connection. */
export function answerClientError(error: Error, socket: Socket): void {
  const code = errorCode(error) ?? '';
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = answers[code] ?? '400 Bad Request';
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n`;
  socket.end(`${head}Content-Length: ${status.length}\r\n\r\n${status}`, () => socket.destroy());
}
