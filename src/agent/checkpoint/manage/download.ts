import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { AgentRequest } from '../../server/index.ts';
import { RefusedError, sendText } from '../../server/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import type { Uses } from '../uses.ts';
import type { ByteRange } from './byte-range.ts';
import { readRange } from './byte-range.ts';
import type { ContentCoding } from './content-coding.ts';
import { chooseCoding } from './content-coding.ts';
import { noCheckpoint } from './refusals.ts';

/** How many archives are sent at a time; each has a file open and some buffers. */
const atATime = 32;
const chunkBytes = 256 * 1024;

export interface Downloads {
  /** Answers a GET or HEAD of an archive: whole, in part, packed, or not at all because the client has it. */
  answer(request: AgentRequest, stored: StoredCheckpoint): Promise<FastifyReply>;
}

/**
 * What is read goes to the client at the client's pace; when it goes away, the reading ends. The file is open before the
 * first byte, so that one which is removed meanwhile is sent to its end. No archive that is being sent falls to retention.
 */
export function createDownloads(archives: ArchiveFolder, uses: Uses): Downloads {
  let sending = 0;

  async function begin({ id }: StoredCheckpoint): Promise<{ file: FileHandle; end(): void }> {
    if (sending >= atATime)
      throw new RefusedError(429, `${sending} archives are being sent already; try again later`);
    sending += 1;
    const held = uses.hold(id);
    const end = () => {
      held[Symbol.dispose]();
      sending -= 1;
    };
    try {
      const file = await archives.open(id);
      if (file === undefined) throw noCheckpoint(id);
      return { file, end };
    } catch (error) {
      end();
      throw error;
    }
  }

  return {
    async answer({ raw, reply }, stored) {
      const { headers, method } = raw;
      const size = stored.bytes;
      const plainTag = tagOf(stored);
      const ranged = asksForPart(headers, plainTag) ? readRange(headers.range, size) : 'whole';
      const packable = headers.range === undefined && size > 0 && !isSealed(stored);
      const coding = packable ? chooseCoding(headers['accept-encoding']) : undefined;
      const tag = plainTag && coding ? `${plainTag.slice(0, -1)}-${coding}"` : plainTag;
      describe(reply, stored, tag);
      if (tag !== undefined && lists(headers['if-none-match'], tag)) return reply.code(304).send();
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
      return reply.send(contentOf(file, ranged, coding, size).once('close', end));
    },
  };
}

/** What is sealed does not become smaller. */
const isSealed = ({ path }: StoredCheckpoint): boolean => !path.endsWith('.tar');

/** Strong: the archive's own digest. None where nobody knows that. */
const tagOf = ({ record }: StoredCheckpoint): string | undefined => record && `"${record.sha256}"`;

function describe(
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

/** A condition that does not hold means the whole (RFC 9110, section 13.1.5); a date is none that is understood here. */
function asksForPart(headers: AgentRequest['raw']['headers'], tag: string | undefined): boolean {
  const condition = headers['if-range'];
  return headers.range !== undefined && (condition === undefined || condition === tag);
}

function lists(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const tags = header.split(',').map((text) => text.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(tag);
}

/** No more than `size` bytes: what is declared is what is sent. Closing it closes the file. */
function contentOf(
  file: FileHandle,
  range: ByteRange | 'whole',
  coding: ContentCoding | undefined,
  size: number,
): Readable {
  const { first, last } = range === 'whole' ? { first: 0, last: size - 1 } : range;
  const content = file.createReadStream({ start: first, end: last, highWaterMark: chunkBytes });
  if (coding === undefined) return content;
  return pipeline(content, packer(coding), () => undefined); // whoever reads it is told of an error by the stream
}

/** Fast rather than small: memory packs well, and the network inside a cluster is fast. */
function packer(coding: ContentCoding): Transform {
  return coding === 'gzip'
    ? createGzip({ level: constants.Z_BEST_SPEED })
    : createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}
