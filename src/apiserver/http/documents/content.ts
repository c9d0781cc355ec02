import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { takesGzip } from '../answers/compress.ts';

/** A document as it is sent. */
export interface Content {
  mediaType: string;
  /** Changes with the bytes; the same after a restart. */
  hash: string;
  /** Kept as it is, or only packed when it is large and seldom asked for. */
  bytes: { plain: Buffer } | { packed: Buffer; sentPacked: boolean };
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);

export function plainContent(mediaType: string, plain: Buffer): Content {
  return { mediaType, hash: hashOf(plain), bytes: { plain } };
}

/**
 * Takes a sixth of the memory or less. It is sent as it is kept where `sentPacked` allows that; clients that do not take
 * gzip wait until it is unpacked.
 */
export async function packedContent(
  mediaType: string,
  plain: Uint8Array,
  sentPacked: boolean,
): Promise<Content> {
  return { mediaType, hash: hashOf(plain), bytes: { packed: await pack(plain), sentPacked } };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').toUpperCase();
}

/** Calls `make` when it is first needed, and again after it failed. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** What every answer may be kept for, unless it is told otherwise: to ask whether it is still so. */
const askAgain = 'no-cache, private';

/**
 * Sends a document, or 304 when the client says that it has it (RFC 9110, 13.1.2). The two forms of a packed document
 * have tags of their own; a client may name either.
 */
export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, hash, bytes }: Content,
  caching = askAgain,
): Promise<FastifyReply> {
  const packed = 'packed' in bytes && bytes.sentPacked && takesGzip(request.headers['accept-encoding']);
  reply
    .header('etag', `"${hash}${packed ? packedMark : ''}"`)
    .header('vary', 'packed' in bytes ? 'Accept, Accept-Encoding' : 'Accept')
    .header('cache-control', caching);
  if (isKnown(request.headers['if-none-match'], hash)) return reply.code(304).send();
  reply.code(200).header('content-type', mediaType);
  if ('plain' in bytes) return reply.send(bytes.plain);
  return packed
    ? reply.header('content-encoding', 'gzip').send(bytes.packed)
    : reply.send(await unpack(bytes.packed));
}

const packedMark = '-gzip';

function isKnown(ifNoneMatch: string | undefined, hash: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',', 64).map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.some((tag) => tag === '*' || tag === `"${hash}"` || tag === `"${hash}${packedMark}"`);
}
