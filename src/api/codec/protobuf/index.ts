export { encodeList, encodeWatchEvent } from './collection.ts';
export { decodeMessage } from './decode.ts';
export { encodeMessage } from './encode.ts';
export { decodeEnvelope, encodeEnvelope } from './envelope.ts';
export { ProtobufError } from './error.ts';
