import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Moved } from './page-links.ts';
import { createLinkRewriter } from './page-links.ts';

const decoders: Readonly<Record<string, () => readonly Duplex[]>> = {
  '': () => [],
  identity: () => [],
  gzip: () => [createGunzip()],
  'x-gzip': () => [createGunzip()],
  deflate: () => [createInflate()],
  br: () => [createBrotliDecompress()],
};

const encodingOf = (headers: IncomingHttpHeaders) => (headers['content-encoding'] ?? '').trim().toLowerCase();

/**
 * Whether an answer is a page whose links are moved: HTML, whole, in an encoding that can be read. As in the reference, one that
 * leads elsewhere is none.
 */
export function isPage(headers: IncomingHttpHeaders): boolean {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== 'text/html' || parameters.some((each) => /charset\s*=\s*"?utf-?(?:16|32)/.test(each)))
    return false;
  if (headers.location !== undefined || headers['content-range'] !== undefined) return false;
  return Object.hasOwn(decoders, encodingOf(headers));
}

/** What is true of the pod's own bytes and not of those that the caller gets, which are not compressed. */
const ofBytes = [
  ...['accept-ranges', 'content-digest', 'content-encoding', 'content-length', 'content-md5', 'digest'],
  'repr-digest',
];

/** The headers of a page whose links are moved. Its tag becomes a weak one: it stands for the same page, in other bytes. */
export function toPageHeaders(
  headers: Readonly<Record<string, string | string[]>>,
): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(([name]) => !ofBytes.includes(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === 'etag' && typeof value === 'string' && value.startsWith('"') ? `W/${value}` : value,
    ]),
  );
}

/** What a page goes through on its way to the caller. */
export function createPageStreams(headers: IncomingHttpHeaders, moved: Moved): readonly Duplex[] {
  return [...(decoders[encodingOf(headers)]?.() ?? []), createLinkRewriter(moved)];
}
