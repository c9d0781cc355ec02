/** A range of bytes; `last` is included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Parses a Range header for a content of `size` bytes (RFC 9110, section 14). `whole`: there is no header, or it asks for
 * something unsupported, such as several ranges, and must be ignored. `none`: the range lies outside the content.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'none' {
  const [, from, to] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole';
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'none' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'whole';
  if (first >= size) return 'none';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

/** How an archive can be compressed for the transfer. */
export type ContentCoding = 'gzip' | 'zstd';

/** In order of preference, for clients that weigh both the same. */
const codings: readonly ContentCoding[] = ['zstd', 'gzip'];

/**
 * Chooses a coding by Accept-Encoding (RFC 9110, section 12.5.3); undefined where the client names none of them, or
 * prefers the content unchanged. `*` counts as naming none.
 */
export function chooseCoding(header: string | undefined): ContentCoding | undefined {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',').slice(0, 20)) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
    weights.set(name, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0);
  }
  const weigh = (coding: ContentCoding) => weights.get(coding) ?? 0;
  const best = codings.toSorted((a, b) => weigh(b) - weigh(a))[0];
  if (best === undefined || weigh(best) === 0) return undefined;
  return (weights.get('identity') ?? 0) > weigh(best) ? undefined : best;
}
