export {
  encodeList,
  encodeListHead,
  encodeWatchEvent,
  listEnd,
  type WriteInto,
  writeListItem,
} from './collection.ts';
export { type ConvertJson, jsonConverter } from './convert/index.ts';
export { decodeMessage } from './decode.ts';
export { encodeMessage } from './encode.ts';
export { decodeEnvelope, encodeEnvelope } from './envelope.ts';
export { ProtobufError } from './error.ts';
export { type EventFrames, eventFrames } from './event-frame.ts';
