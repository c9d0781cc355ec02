import { RequestError, requestDer } from './request.ts';

/*
 * The organizations in the subject of a certificate signing request (RFC 2986), read at once and without the library that
 * signs. Only so much of DER is understood as it takes to find them; anything else is refused, so that nobody else finds
 * more in it.
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
export function organizationsIn(csrPem: string): string[] {
  const request = only(partsOf(Buffer.from(requestDer(csrPem))), sequence);
  const [info] = partsOf(request);
  const [version, subject] = partsOf(contentOf(info, sequence));
  contentOf(version, integer);
  return partsOf(contentOf(subject, sequence)).flatMap((names) =>
    partsOf(contentOf(names, set)).flatMap((name) => {
      const [type, value] = partsOf(contentOf(name, sequence));
      if (value === undefined) throw unreadable();
      return contentOf(type, oid).equals(organizationName) ? textsOf(value) : [];
    }),
  );
}

interface Part {
  tag: number;
  content: Buffer;
}

function only(parts: readonly Part[], tag: number): Buffer {
  if (parts.length !== 1) throw unreadable();
  return contentOf(parts[0], tag);
}

function contentOf(part: Part | undefined, tag: number): Buffer {
  if (part?.tag !== tag) throw unreadable();
  return part.content;
}

function partsOf(bytes: Buffer): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { length, start } = lengthAt(bytes, at + 1);
    const end = start + length;
    if (end > bytes.length) throw unreadable();
    parts.push({ tag: bytes[at] ?? 0, content: bytes.subarray(start, end) });
    at = end;
  }
  return parts;
}

/** Of up to four bytes; the indefinite form is no DER. */
function lengthAt(bytes: Buffer, at: number): { length: number; start: number } {
  const first = bytes[at];
  if (first === undefined) throw unreadable();
  if (first < 0x80) return { length: first, start: at + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > 4 || at + 1 + count > bytes.length) throw unreadable();
  return { length: bytes.readUIntBE(at + 1, count), start: at + 1 + count };
}

/** As whatever sort of string it may be read by others. */
function textsOf({ content }: Part): string[] {
  const wide = content.length % 2 === 0 ? [Buffer.from(content).swap16().toString('utf16le')] : [];
  return [content.toString('utf8'), ...wide];
}

function unreadable(): RequestError {
  return new RequestError('the subject of the certificate signing request cannot be read');
}
