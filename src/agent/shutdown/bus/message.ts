import type { BusValue } from './wire.ts';
import { BusReader, BusWriter, splitSignature } from './wire.ts';

/** A message of D-Bus; what a message does not have is empty. */
export interface BusMessage {
  readonly kind: 'call' | 'return' | 'error' | 'signal' | 'other';
  readonly serial: number;
  /** The call that it answers; 0: none. */
  readonly replySerial: number;
  readonly path: string;
  readonly interfaceName: string;
  readonly member: string;
  readonly errorName: string;
  /** The unique name of who sent it, which the bus fills in: nobody can send under another's. */
  readonly sender: string;
  readonly destination: string;
  readonly signature: string;
  readonly body: readonly BusValue[];
}

/** What is sent. */
export type BusDraft = Partial<Omit<BusMessage, 'kind' | 'serial'>> & {
  readonly kind: 'call' | 'return' | 'error' | 'signal';
};

const kinds = ['other', 'call', 'return', 'error', 'signal'] as const;
const codes = {
  path: 1,
  interfaceName: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  sender: 7,
  signature: 8,
} as const;
const textFields = ['path', 'interfaceName', 'member', 'errorName', 'destination', 'sender'] as const;

export function encodeMessage(draft: BusDraft, serial: number): Buffer {
  const { signature = '', body = [], replySerial = 0 } = draft;
  const content = new BusWriter();
  splitSignature(signature).forEach((type, index) => void content.value(type, body[index] ?? ''));
  const fields = new BusWriter();
  const field = (code: number, type: string) => fields.align(8).byte(code).signature(type);
  for (const name of textFields) {
    const value = draft[name] ?? '';
    if (value !== '') field(codes[name], name === 'path' ? 'o' : 's').text(value);
  }
  if (replySerial !== 0) field(codes.replySerial, 'u').uint32(replySerial);
  if (signature !== '') field(codes.signature, 'g').signature(signature);
  const head = new BusWriter()
    .raw(Buffer.from([littleMark, kinds.indexOf(draft.kind), 0, protocolVersion]))
    .uint32(content.length)
    .uint32(serial)
    .uint32(fields.length)
    .raw(fields.bytes())
    .align(8);
  return Buffer.concat([head.bytes(), content.bytes()]);
}

const littleMark = 'l'.charCodeAt(0);
const bigMark = 'B'.charCodeAt(0);
const protocolVersion = 1;
/** Until the length of the fields is known. */
const startLength = 16;
/** D-Bus itself allows 128 MiB; what is asked here takes less than a page. */
const maxLength = 1024 * 1024;

/** Takes messages from a stream of bytes. */
export class MessageParser {
  #pending = Buffer.alloc(0);

  /** The messages that are complete now. Throws for what is no D-Bus; nothing can be read after that. */
  push(chunk: Buffer): BusMessage[] {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const messages: BusMessage[] = [];
    for (;;) {
      const length = lengthOf(this.#pending);
      if (length === undefined || this.#pending.length < length) return messages;
      messages.push(decode(this.#pending.subarray(0, length)));
      this.#pending = this.#pending.subarray(length);
    }
  }
}

/** Undefined while not enough of it is there to know. */
function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length < startLength) return undefined;
  const reader = new BusReader(bytes, isLittleEndian(bytes), 4);
  const [body, , fields] = [reader.uint32(), reader.uint32(), reader.uint32()];
  const length = startLength + Math.ceil(fields / 8) * 8 + body;
  if (length > maxLength)
    throw new Error(`a message of D-Bus has ${length} bytes; at most ${maxLength} are read`);
  return length;
}

function isLittleEndian(bytes: Buffer): boolean {
  const [mark, , , version] = bytes;
  if ((mark !== littleMark && mark !== bigMark) || version !== protocolVersion)
    throw new Error('what was received is no message of D-Bus');
  return mark === littleMark;
}

function decode(bytes: Buffer): BusMessage {
  const isLittle = isLittleEndian(bytes);
  const reader = new BusReader(bytes, isLittle, 8);
  const serial = reader.uint32();
  const fields = new Map<BusValue | undefined, BusValue>();
  for (const [code, value] of arrayOf(reader.readAll('a(yv)')[0]).map(arrayOf))
    if (value !== undefined) fields.set(code, value);
  reader.align(8);
  const text = (name: keyof typeof codes) => {
    const value = fields.get(codes[name]);
    return typeof value === 'string' ? value : '';
  };
  const replySerial = fields.get(codes.replySerial);
  const signature = text('signature');
  return {
    kind: kinds[bytes[1] ?? 0] ?? 'other',
    serial,
    replySerial: typeof replySerial === 'number' ? replySerial : 0,
    path: text('path'),
    interfaceName: text('interfaceName'),
    member: text('member'),
    errorName: text('errorName'),
    sender: text('sender'),
    destination: text('destination'),
    signature,
    body: reader.readAll(signature),
  };
}

export const arrayOf = (value: BusValue | undefined): readonly BusValue[] =>
  typeof value === 'object' ? value : [];
