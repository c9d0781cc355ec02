import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';

/** Below this it takes longer to compress than to send, as the reference has it. */
const minBytes = 128 * 1024;
/** The fastest, as the reference has it: a list of 3.4 MB becomes 22 % in 14 ms, and with level 9 21 % in 73 ms. */
const level = 1;
const compress = promisify(gzip);

/** Whether to compress a body: it is long enough, and the client takes gzip. */
export function isWorthIt({ method, headers }: FastifyRequest, body: Buffer): boolean {
  return body.length >= minBytes && method === 'GET' && takesGzip(headers['accept-encoding']);
}

/** The body as gzip. Compresses on another thread. */
export async function compressed(body: Buffer): Promise<Buffer> {
  return await compress(body, { level });
}

/** Whether an Accept-Encoding header allows gzip (RFC 9110, 12.5.3); without a header it is not asked for. */
export function takesGzip(acceptEncoding: string | string[] | undefined): boolean {
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
