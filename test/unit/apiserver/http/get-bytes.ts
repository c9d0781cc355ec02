import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ConnectionOptions } from 'node:tls';

export interface RawReply {
  code: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** One GET and its answer, with the bytes as they came: not unpacked, not read as text. */
export async function getBytes(
  tls: ConnectionOptions,
  path: string,
  headers: OutgoingHttpHeaders,
): Promise<RawReply> {
  const { promise, resolve, reject } = Promise.withResolvers<RawReply>();
  const request = httpsRequest({ ...tls, path, headers, agent: false }, (message) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () =>
      resolve({ code: message.statusCode ?? 0, headers: message.headers, bytes: Buffer.concat(chunks) }),
    );
    message.on('error', reject);
  });
  request.on('error', reject).end();
  return await promise;
}
