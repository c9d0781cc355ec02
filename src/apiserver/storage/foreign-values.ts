import type { UnreadableValue } from './types.ts';

/** How the reference's values begin that are encrypted (followed by the provider, `aescbc:v1:key1:`), or in protobuf. */
const encrypted = Buffer.from('k8s:enc:');
const protobuf = Buffer.from('k8s\0');
/** With which the reference's JSON ends; it would end the line of an event in a watch. */
const lineFeed = 0x0a;
/** Of the name of a provider of encryption, in bytes. */
const maxProvider = 40;

/** Takes everything as JSON that is not in another encoding of the reference. */
export function readJson(_key: string, value: Uint8Array): Uint8Array | UnreadableValue {
  const why = whyEncrypted(value);
  if (why !== undefined) return { why };
  if (isProtobuf(value)) return { why: 'it is in protobuf' };
  return withoutLineEnd(value);
}

/** Why an encrypted value cannot be read; undefined: it is not encrypted. */
export function whyEncrypted(value: Uint8Array): string | undefined {
  if (!startsWith(value, encrypted)) return undefined;
  const start = Buffer.from(value.subarray(encrypted.length, encrypted.length + maxProvider)).toString(
    'latin1',
  );
  const provider = /^[a-z0-9-]+(?=:)/.exec(start)?.[0] ?? 'unknown';
  return `it is encrypted (k8s:enc:${provider})`;
}

export function isProtobuf(value: Uint8Array): boolean {
  return startsWith(value, protobuf);
}

export function withoutLineEnd(value: Uint8Array): Uint8Array {
  const isObject = value[0] === 0x7b && value[value.length - 1] === lineFeed;
  return isObject ? value.subarray(0, -1) : value;
}

function startsWith(value: Uint8Array, start: Buffer): boolean {
  return value[0] === start[0] && Buffer.compare(value.subarray(0, start.length), start) === 0;
}
