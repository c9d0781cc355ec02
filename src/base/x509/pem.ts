/** One block of a PEM text (RFC 7468). */
export interface PemBlock {
  /** Such as CERTIFICATE. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Whether lines `Key: value` (RFC 1421) are before its data. */
  readonly hasHeaders: boolean;
}

const begin = /^-----BEGIN ([^\r\n]*)-----$/;
const end = /^-----END ([^\r\n]*)-----$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The blocks of `text`, in their order. As in the reference, what is between blocks does not count, nor does a block that is not
 * whole or whose data is no base64. Takes time in proportion to the length of the text.
 */
export function readPemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { readonly type: string; readonly lines: string[] } | undefined;
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd();
    const opened = begin.exec(line)?.[1];
    const closed = end.exec(line)?.[1];
    if (opened !== undefined) open = { type: opened, lines: [] };
    else if (closed === undefined) open?.lines.push(line);
    else {
      if (open?.type === closed) blocks.push(...toBlock(open.type, open.lines));
      open = undefined;
    }
  }
  return blocks;
}

function toBlock(type: string, lines: readonly string[]): PemBlock[] {
  const first = lines.findIndex((line) => !line.includes(':'));
  const data = (first === -1 ? [] : lines.slice(first)).join('').replace(/[ \t\r]/g, '');
  if (data.length % 4 !== 0 || !base64.test(data)) return [];
  return [{ type, bytes: Buffer.from(data, 'base64'), hasHeaders: first !== 0 && lines.length > 0 }];
}

const lineLength = 64;

export function formatPem(type: string, bytes: Buffer): string {
  const data = bytes.toString('base64');
  const lines = [`-----BEGIN ${type}-----`];
  for (let at = 0; at < data.length; at += lineLength) lines.push(data.slice(at, at + lineLength));
  return `${lines.join('\n')}\n-----END ${type}-----\n`;
}
