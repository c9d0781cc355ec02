import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';

/** Below this it takes longer to compress than to send; the value of the reference. */
const minBytes = 128 * 1024;
/** The fastest level, as in the reference: a list of 3.4 MB becomes 22 % in 14 ms, and with level 9 21 % in 73 ms. */
const level = 1;
const compress = promisify(gzip);

/** Whether a body is long enough, and the client accepts gzip. */
export function shouldCompress({ method, headers }: FastifyRequest, body: Buffer): boolean {
  return body.length >= minBytes && method === 'GET' && acceptsGzip(headers['accept-encoding']);
}

/** Returns the body as gzip. Compresses on another thread. */
export async function compressBody(body: Buffer): Promise<Buffer> {
  return await compress(body, { level });
}

/** Whether an Accept-Encoding header allows gzip (RFC 9110, 12.5.3); without a header it does not. */
export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  const codings = String(acceptEncoding ?? '')
    .split(',', 32)
    .map(parseCoding);
  const named = codings.find(({ name }) => name === 'gzip' || name === 'x-gzip');
  const decisive = named ?? codings.find(({ name }) => name === '*');
  return decisive !== undefined && decisive.quality > 0;
}

function parseCoding(text: string): { name: string; quality: number } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { name, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
}
