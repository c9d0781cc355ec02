import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { AgentRequest } from '../../server/index.ts';
import { RefusedError, sendText } from '../../server/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import type { ArchivesInUse } from '../archives-in-use.ts';
import type { ByteRange, ContentCoding } from './content-negotiation.ts';
import { chooseCoding, parseRange } from './content-negotiation.ts';
import { createNotFoundError } from './not-found.ts';

/** Archives that are sent at a time; each needs an open file and some buffers. */
const maxSending = 32;
const chunkBytes = 256 * 1024;

export interface Downloads {
  /** Answers a GET or HEAD of an archive: whole, in part, compressed, or with 304 because the client has it. */
  send(request: AgentRequest, stored: StoredCheckpoint): Promise<FastifyReply>;
}

/**
 * The file is read at the client's pace, and no further when the client goes away. It is opened before the first byte is
 * sent, so an archive that is removed meanwhile is still sent completely. Retention removes none that is being sent.
 */
export function createDownloads(archives: ArchiveFolder, uses: ArchivesInUse): Downloads {
  let sending = 0;

  async function begin({ id }: StoredCheckpoint): Promise<{ file: FileHandle; end(): void }> {
    if (sending >= maxSending)
      throw new RefusedError(429, `${sending} archives are being sent already; try again later`);
    sending += 1;
    const held = uses.hold(id);
    const end = () => {
      held[Symbol.dispose]();
      sending -= 1;
    };
    try {
      const file = await archives.open(id);
      if (file === undefined) throw createNotFoundError(id);
      return { file, end };
    } catch (error) {
      end();
      throw error;
    }
  }

  return {
    async send({ raw, reply }, stored) {
      const { headers, method } = raw;
      const size = stored.bytes;
      const plainTag = formatTag(stored);
      const ranged = isPartWanted(headers, plainTag) ? parseRange(headers.range, size) : 'whole';
      const packable = headers.range === undefined && size > 0 && !isSealed(stored);
      const coding = packable ? chooseCoding(headers['accept-encoding']) : undefined;
      const tag = plainTag && coding ? `${plainTag.slice(0, -1)}-${coding}"` : plainTag;
      setHeaders(reply, stored, tag);
      if (tag !== undefined && includesTag(headers['if-none-match'], tag)) return reply.code(304).send();
      if (ranged === 'none') {
        reply.header('content-range', `bytes */${size}`).removeHeader('content-disposition');
        return sendText(reply, 416, `the archive has ${size} bytes`);
      }
      reply
        .code(ranged === 'whole' ? 200 : 206)
        .header('content-type', isSealed(stored) ? 'application/octet-stream' : 'application/x-tar');
      if (coding !== undefined) reply.header('content-encoding', coding);
      else reply.header('content-length', ranged === 'whole' ? size : ranged.last - ranged.first + 1);
      if (ranged !== 'whole') reply.header('content-range', `bytes ${ranged.first}-${ranged.last}/${size}`);
      if (method === 'HEAD' || size === 0) return reply.send();
      const { file, end } = await begin(stored);
      return reply.send(openContent(file, ranged, coding, size).once('close', end));
    },
  };
}

/** A sealed archive is not compressed: it would not become smaller. */
const isSealed = ({ path }: StoredCheckpoint): boolean => !path.endsWith('.tar');

/** A strong ETag: the archive's digest. Undefined where it is not known. */
const formatTag = ({ record }: StoredCheckpoint): string | undefined => record && `"${record.sha256}"`;

function setHeaders(
  reply: FastifyReply,
  { path, modifiedMs, record }: StoredCheckpoint,
  tag: string | undefined,
) {
  reply
    .header('accept-ranges', 'bytes')
    .header('vary', 'accept-encoding')
    .header('last-modified', new Date(modifiedMs).toUTCString())
    .header('content-disposition', `attachment; filename="${basename(path)}"`);
  if (tag !== undefined) reply.header('etag', tag);
  if (record !== undefined) reply.header('x-checkpoint-sha256', record.sha256);
}

/** False if there is an If-Range that does not match (RFC 9110, section 13.1.5). A date in it never matches. */
function isPartWanted(headers: AgentRequest['raw']['headers'], tag: string | undefined): boolean {
  const condition = headers['if-range'];
  return headers.range !== undefined && (condition === undefined || condition === tag);
}

function includesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const tags = header.split(',').map((text) => text.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(tag);
}

/** At most `size` bytes, as declared in the header, even if the file has grown. Closing the stream closes the file. */
function openContent(
  file: FileHandle,
  range: ByteRange | 'whole',
  coding: ContentCoding | undefined,
  size: number,
): Readable {
  const { first, last } = range === 'whole' ? { first: 0, last: size - 1 } : range;
  const content = file.createReadStream({ start: first, end: last, highWaterMark: chunkBytes });
  if (coding === undefined) return content;
  return pipeline(content, createCompressor(coding), () => undefined); // the reader of the stream gets the error from the stream
}

/** Favours speed over size: memory compresses well, and the network inside a cluster is fast. */
function createCompressor(coding: ContentCoding): Transform {
  return coding === 'gzip'
    ? createGzip({ level: constants.Z_BEST_SPEED })
    : createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}
