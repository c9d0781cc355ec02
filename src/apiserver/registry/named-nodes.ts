import type { Stored } from '../storage/index.ts';

const nodeNameKey = Buffer.from('"nodeName":"');
const quote = 0x22;

/**
 * The names that follow the key `nodeName` anywhere in a stored object, found without parsing it. The node of a pod is
 * among them. Others, such as from an annotation of that name, do no harm: callers parse the objects that match.
 */
export function* namedNodes({ value }: Stored): Generator<string> {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  for (let at = bytes.indexOf(nodeNameKey); at >= 0; at = bytes.indexOf(nodeNameKey, at + 1)) {
    const start = at + nodeNameKey.length;
    yield bytes.toString('latin1', start, bytes.indexOf(quote, start));
  }
}
