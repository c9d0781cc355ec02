import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsGzip } from '../answers/compress.ts';

/** A document that can be sent. */
export interface Content {
  mediaType: string;
  /** Changes with the bytes; the same after a restart. */
  hash: string;
  /** Kept as plain bytes, or only as gzip when it is large and rarely requested. */
  bytes: { plain: Buffer } | { packed: Buffer; sentPacked: boolean };
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);

export function createContent(mediaType: string, plain: Buffer): Content {
  return { mediaType, hash: hashOf(plain), bytes: { plain } };
}

/**
 * Creates a document that is kept as gzip, in a sixth of the memory or less. With `sentPacked` it is sent as gzip to clients
 * that accept that; others wait until it is unpacked.
 */
export async function createPackedContent(
  mediaType: string,
  plain: Uint8Array,
  sentPacked: boolean,
): Promise<Content> {
  return { mediaType, hash: hashOf(plain), bytes: { packed: await pack(plain), sentPacked } };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').toUpperCase();
}

/** Calls `make` at the first call, and again after a failure; else returns the same result. */
export function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** The default `Cache-Control`: clients may keep a document, but have to ask each time whether it has changed. */
const revalidate = 'no-cache, private';

/**
 * Sends a document, or 304 when the client already has it (RFC 9110, 13.1.2). The plain and the packed form of a document
 * have different tags; a client may name either.
 */
export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, hash, bytes }: Content,
  caching = revalidate,
): Promise<FastifyReply> {
  const packed = 'packed' in bytes && bytes.sentPacked && acceptsGzip(request.headers['accept-encoding']);
  reply
    .header('etag', `"${hash}${packed ? packedSuffix : ''}"`)
    .header('vary', 'packed' in bytes ? 'Accept, Accept-Encoding' : 'Accept')
    .header('cache-control', caching);
  if (isUnchanged(request.headers['if-none-match'], hash)) return reply.code(304).send();
  reply.code(200).header('content-type', mediaType);
  if ('plain' in bytes) return reply.send(bytes.plain);
  return packed
    ? reply.header('content-encoding', 'gzip').send(bytes.packed)
    : reply.send(await unpack(bytes.packed));
}

const packedSuffix = '-gzip';

function isUnchanged(ifNoneMatch: string | undefined, hash: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',', 64).map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.some((tag) => tag === '*' || tag === `"${hash}"` || tag === `"${hash}${packedSuffix}"`);
}
