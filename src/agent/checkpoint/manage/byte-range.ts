/** A part of a content, first and last byte included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * What a Range header asks for of a content of `size` bytes (RFC 9110, section 14). `whole`: it asks for nothing that is
 * understood here, such as several parts, and is to be left unheeded. `none`: nothing of the content is in it.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'whole' | 'none' {
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
