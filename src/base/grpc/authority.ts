/*
 * gRPC clients in Go, up to 1.57, send their dial target as :authority: for a unix socket its path, or an empty string.
 * Servers in Go accept that. An authority has no slash (RFC 3986, section 3.2), so Node refuses such requests, and with
 * them most existing device plugins. Here the slashes are replaced by dots before Node parses them.
 *
 * Both sides of a connection keep a table of fields by their sizes (HPACK, RFC 7541), so a value must keep its length: in
 * the Huffman code slash and dot both have six bits. An empty authority is never in the table; it is replaced by a literal
 * that is not added to it.
 */

const slash = 0x2f;
const dot = 0x2e;
const slashBits = 0x18;
const dotBits = 0x17;

/** The index of the field `:authority`, with an empty value, in HPACK's static table. */
const authorityIndex = 1;

const literalAuthority = Buffer.from('\u0001\u0009localhost');

/**
 * Returns the block of fields with an authority that Node accepts; what cannot be parsed is left to Node. Of a block in
 * several frames the first is enough: no client sends its authority later. May change `block`.
 */
export function repairAuthority(block: Buffer): Buffer {
  let at = 0;
  while (at < block.length) {
    const field = readField(block, at);
    if (field === undefined) break;
    if (field.isEmptyAuthority)
      return Buffer.concat([block.subarray(0, at), literalAuthority, block.subarray(field.end)]);
    if (field.authority !== undefined) replaceSlashes(field.authority);
    at = field.end;
  }
  return block;
}

interface Field {
  readonly end: number;
  readonly isEmptyAuthority?: boolean;
  readonly authority?: Text;
}

interface Text {
  readonly bytes: Buffer;
  readonly isHuffman: boolean;
  readonly end: number;
}

function readField(block: Buffer, at: number): Field | undefined {
  const first = block[at] ?? 0;
  if (first >= 0x80) {
    const index = readInteger(block, at, 7);
    return index && { end: index.end, isEmptyAuthority: index.value === authorityIndex };
  }
  if (first >= 0x20 && first < 0x40) return readInteger(block, at, 5); // the table is resized
  const name = readInteger(block, at, first >= 0x40 ? 6 : 4);
  const start = name?.value === 0 ? readText(block, name.end)?.end : name?.end;
  const value = start === undefined ? undefined : readText(block, start);
  if (value === undefined) return undefined;
  return name?.value === authorityIndex ? { end: value.end, authority: value } : { end: value.end };
}

/** Undefined where it is incomplete, or larger than any length in such a block. */
function readInteger(block: Buffer, at: number, bits: number): { value: number; end: number } | undefined {
  const max = 2 ** bits - 1;
  let value = (block[at] ?? 0) & max;
  if (value < max) return { value, end: at + 1 };
  for (let more = 0; more < 3; more += 1) {
    const byte = block[at + 1 + more];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 128 ** more;
    if (byte < 0x80) return { value, end: at + 2 + more };
  }
  return undefined;
}

function readText(block: Buffer, at: number): Text | undefined {
  const length = at < block.length ? readInteger(block, at, 7) : undefined;
  if (length === undefined) return undefined;
  const end = length.end + length.value;
  if (end > block.length) return undefined;
  return { bytes: block.subarray(length.end, end), isHuffman: (block[at] ?? 0) >= 0x80, end };
}

function replaceSlashes({ bytes, isHuffman }: Text): void {
  if (isHuffman) replaceSlashBits(bytes);
  else for (const [at, byte] of bytes.entries()) if (byte === slash) bytes[at] = dot;
}

function replaceSlashBits(bytes: Buffer): void {
  for (let bit = 0; bit < bytes.length * 8; ) {
    const byte = bit >> 3;
    const shift = 8 - (bit & 7);
    const window = ((bytes[byte] ?? 0) << 8) | (bytes[byte + 1] ?? 0xff);
    const next = (window >> shift) & 0xff;
    const length = codeLength(next);
    if (length === undefined) return;
    if (length === 6 && next >> 2 === slashBits) {
      const changed = window ^ ((slashBits ^ dotBits) << (shift + 2));
      bytes[byte] = changed >> 8;
      if (byte + 1 < bytes.length) bytes[byte + 1] = changed & 0xff;
    }
    bit += length;
  }
}

/** The length in bits of the Huffman code that begins with these eight; undefined for characters of no path, and at the end. */
function codeLength(next: number): number | undefined {
  if (next >> 3 < 0x0a) return 5;
  if (next >> 2 < 0x2e) return 6;
  if (next >> 1 < 0x7c) return 7;
  return next < 0xfe ? 8 : undefined;
}
