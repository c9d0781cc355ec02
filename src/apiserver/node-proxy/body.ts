import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { StatusError } from '../../api/index.ts';

/** The body of a request as a stream that fails beyond `limitBytes`; undefined when there is no body to forward. */
export function bodyOf(request: IncomingMessage, limitBytes: number): Readable | undefined {
  const { method = '', headers, httpVersionMajor } = request;
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return undefined;
  const length = headers['content-length'];
  if (Number(length ?? 0) > limitBytes) throw tooLarge(limitBytes);
  // HTTP/2 need not announce a body
  const mayCome = headers['transfer-encoding'] !== undefined || httpVersionMajor === 2;
  if (length === undefined ? !mayCome : Number(length) === 0) return undefined;
  return Readable.from(bounded(request, limitBytes), { objectMode: false });
}

/** Does not destroy the request with its body: when the node gives up in between, the caller still gets an answer. */
async function* bounded(request: IncomingMessage, limitBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    const chunk: Buffer = piece;
    bytes += chunk.length;
    if (bytes > limitBytes) throw tooLarge(limitBytes);
    yield chunk;
  }
}

function tooLarge(limitBytes: number): StatusError {
  return new StatusError('RequestEntityTooLarge', `the body is too large: the limit is ${limitBytes} bytes`);
}
