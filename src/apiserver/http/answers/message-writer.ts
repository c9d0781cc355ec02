import { encodeItem, jsonConverter } from '../../../api/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { Form } from '../negotiation/negotiate.ts';
import { resolveProjection } from './projection.ts';

/**
 * Writes the protobuf message of an object, without an envelope, into a buffer from `from` on. Returns where it ends; when
 * that is beyond the end of the buffer, it did not fit.
 */
export type MessageWriter = (stored: Stored, into: Uint8Array, from: number) => number;

type Served = Pick<Resource, 'encoding' | 'groupSuffix' | 'kind'>;

/** Converts stored bytes without parsing them, wherever this program has written them in the form in which they are sent. */
export function messageWriter({ encoding, groupSuffix, kind }: Served, form: Form): MessageWriter {
  const { type, project } = resolveProjection(form, kind, groupSuffix);
  const convert = jsonConverter(type.root);
  return (stored, into, from) => {
    const { value, revision } = stored;
    const end = encoding.metadataAt(stored) > 0 ? convert(value, revision, into, from) : undefined;
    if (end !== undefined) return end;
    const message = encodeItem(type, project(encoding.readWhole(stored)), 'protobuf');
    if (from + message.length <= into.length) into.set(message, from);
    return from + message.length;
  };
}
