/** What a tar made here can hold; owner is root, the time is 1970. */
export type TarEntry =
  | { type: 'file'; path: string; mode: number; bytes: Buffer }
  | { type: 'folder'; path: string; mode: number }
  | { type: 'link'; path: string; target: string };

const blockBytes = 512;

/** A tar (ustar) of the entries in the order given. Paths and link targets have at most 100 bytes. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const bytes = entry.type === 'file' ? entry.bytes : Buffer.alloc(0);
    const padding = Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes);
    return [header(entry, bytes.length), bytes, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const text = (at: number, limit: number, value: string): void => {
    if (Buffer.byteLength(value) > limit) throw new Error(`${value} is longer than ${limit} bytes`);
    block.write(value, at, limit);
  };
  const octal = (at: number, width: number, value: number): void => {
    text(at, width, `${value.toString(8).padStart(width - 1, '0')}\0`);
  };
  text(0, 100, entry.type === 'folder' ? `${entry.path}/` : entry.path);
  octal(100, 8, entry.type === 'link' ? 0o777 : entry.mode);
  octal(108, 8, 0);
  octal(116, 8, 0);
  octal(124, 12, size);
  octal(136, 12, 0);
  text(148, 8, ' '.repeat(8)); // the checksum is taken with blanks in its place
  text(156, 1, { file: '0', link: '2', folder: '5' }[entry.type]);
  if (entry.type === 'link') text(157, 100, entry.target);
  text(257, 8, 'ustar\x0000');
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(148, 8, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}
