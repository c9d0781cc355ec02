import { decodeRequestPem, RequestError } from './request.ts';

/*
 * Reads the organizations in the subject of a certificate signing request (RFC 2986) synchronously and without the x509
 * library. It understands only as much of DER as that takes and refuses anything else, so that no other parser finds more
 * organizations than this one.
 *
 *     SEQUENCE { SEQUENCE { INTEGER version, SEQUENCE OF SET OF SEQUENCE { OID, string }, … }, … }
 */

const sequence = 0x30;
const set = 0x31;
const integer = 0x02;
const oid = 0x06;
/** 2.5.4.10 */
const organizationName = Buffer.from([0x55, 0x04, 0x0a]);

/** Throws RequestError when the request or its subject cannot be read. */
export function readOrganizations(csrPem: string): string[] {
  const request = contentOfSingle(parseParts(Buffer.from(decodeRequestPem(csrPem))), sequence);
  const [info] = parseParts(request);
  const [version, subject] = parseParts(contentOf(info, sequence));
  contentOf(version, integer);
  return parseParts(contentOf(subject, sequence)).flatMap((names) =>
    parseParts(contentOf(names, set)).flatMap((name) => {
      const [type, value] = parseParts(contentOf(name, sequence));
      if (value === undefined) throw createUnreadableError();
      return contentOf(type, oid).equals(organizationName) ? decodeTexts(value) : [];
    }),
  );
}

interface Part {
  tag: number;
  content: Buffer;
}

function contentOfSingle(parts: readonly Part[], tag: number): Buffer {
  if (parts.length !== 1) throw createUnreadableError();
  return contentOf(parts[0], tag);
}

function contentOf(part: Part | undefined, tag: number): Buffer {
  if (part?.tag !== tag) throw createUnreadableError();
  return part.content;
}

function parseParts(bytes: Buffer): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { length, start } = parseLength(bytes, at + 1);
    const end = start + length;
    if (end > bytes.length) throw createUnreadableError();
    parts.push({ tag: bytes[at] ?? 0, content: bytes.subarray(start, end) });
    at = end;
  }
  return parts;
}

/** Of up to four bytes; the indefinite form is no DER. */
function parseLength(bytes: Buffer, at: number): { length: number; start: number } {
  const first = bytes[at];
  if (first === undefined) throw createUnreadableError();
  if (first < 0x80) return { length: first, start: at + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > 4 || at + 1 + count > bytes.length) throw createUnreadableError();
  return { length: bytes.readUIntBE(at + 1, count), start: at + 1 + count };
}

/** In every encoding in which another parser may read the string. */
function decodeTexts({ content }: Part): string[] {
  const wide = content.length % 2 === 0 ? [Buffer.from(content).swap16().toString('utf16le')] : [];
  return [content.toString('utf8'), ...wide];
}

function createUnreadableError(): RequestError {
  return new RequestError('the subject of the certificate signing request cannot be read');
}
