import type { ListHead } from '../../../api/index.ts';
import { bufferOf, encodeListHead, listEnd, writeListItem } from '../../../api/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { LongBody } from './list-body.ts';
import type { MessageWriter } from './message-writer.ts';
import { Pieces } from './pieces.ts';
import { eachInSlices } from './slices.ts';

/** A list in protobuf. Its length comes before its items, so all of them are written before the first is sent. */
export async function joinMessages(
  { kind, apiVersion, metadata }: ListHead,
  items: readonly Stored[],
  write: MessageWriter,
): Promise<LongBody> {
  const pieces = new Pieces();
  await eachInSlices(items, (item) => {
    const writeMessage = (into: Uint8Array, from: number) => write(item, into, from);
    pieces.add(item.value.length, (into, from) => writeListItem(writeMessage, into, from));
  });
  const written = pieces.finish();
  const head = encodeListHead({ kind, apiVersion }, metadata, pieces.length);
  const all = [head, ...written, listEnd].map(bufferOf);
  return { length: head.length + pieces.length + listEnd.length, pieces: () => all };
}
