import { X509Certificate } from 'node:crypto';

/** 2.5.29.19, with its tag and length. */
const basicConstraints = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x13]);
const tags = { boolean: 0x01, octets: 0x04, extensions: 0xa3 };

/**
 * Why these bytes (DER) are no certificate of an authority, or undefined. Its basic constraints alone decide that, not what its key
 * may be used for.
 */
export function findAuthorityFault(der: Buffer): 'unreadable' | 'no-authority' | undefined {
  try {
    const { raw } = new X509Certificate(der);
    if (!raw.equals(der)) return 'unreadable'; // more bytes follow
    return isAuthority(der) ? undefined : 'no-authority';
  } catch {
    return 'unreadable';
  }
}

function isAuthority(der: Buffer): boolean {
  const [certificate] = children(der);
  const [signed] = children(certificate?.content);
  const wrapped = children(signed?.content).find(({ tag }) => tag === tags.extensions);
  const [extensions] = children(wrapped?.content);
  for (const { content } of children(extensions?.content)) {
    if (!content.subarray(0, basicConstraints.length).equals(basicConstraints)) continue;
    const value = children(content).find(({ tag }) => tag === tags.octets);
    const [constraints] = children(value?.content);
    const [first] = children(constraints?.content);
    return first?.tag === tags.boolean && first.content[0] !== 0;
  }
  return false;
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** The elements in these bytes (X.690), which were parsed before. */
function children(bytes: Buffer = Buffer.alloc(0)): Element[] {
  const found: Element[] = [];
  for (let at = 0; at + 1 < bytes.length; ) {
    const { length, start } = readLength(bytes, at + 1);
    found.push({ tag: bytes[at] ?? 0, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}

function readLength(bytes: Buffer, at: number): { length: number; start: number } {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return { length: first, start: at + 1 };
  const count = Math.min(first & 0x7f, 4);
  return { length: bytes.readUIntBE(at + 1, count), start: at + 1 + count };
}
