/** What a client of HTTP/2 sends, byte by byte (RFC 9113, 4.1): a real one is too well-behaved for some tests. */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

const types = { headers: 1, reset: 3, settings: 4 } as const;
const [endStream, endHeaders] = [0x1, 0x4];
const cancel = Buffer.from([0, 0, 0, 8]);

export function frame(
  type: keyof typeof types,
  flags: number,
  stream: number,
  payload = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(types[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A GET and its end, at once. */
export function openAndReset(stream: number, path: string): Buffer {
  const headers = Buffer.concat([
    Buffer.from([0x82, 0x87]), // :method GET and :scheme https, of the static table (RFC 7541, appendix A)
    literal(4, path),
    literal(1, 'localhost'),
  ]);
  return Buffer.concat([
    frame('headers', endStream | endHeaders, stream, headers),
    frame('reset', 0, stream, cancel),
  ]);
}

/** A header whose name is in the static table, and whose value is not kept (RFC 7541, 6.2.2). */
function literal(name: number, value: string): Buffer {
  return Buffer.concat([Buffer.from([name, value.length]), Buffer.from(value)]);
}
