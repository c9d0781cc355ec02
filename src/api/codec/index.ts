export { JsonError, type ParsedJson, parseJson } from '../json/index.ts';
export {
  canonicalObject,
  type Decoded,
  DecodeError,
  decodeConfiguration,
  decodeObject,
  decodeValue,
  formatComplaints,
  type Parsed,
  parseObject,
  parseText,
  readStored,
} from './decode.ts';
export { bufferOf, encodeItem, encodeObject, encodeObjectList, encodeText, type ListHead } from './encode.ts';
export type { EncodedBody, Encoding, TextBody } from './encoding.ts';
export { partialObjectMetadata, toPartial } from './partial.ts';
export {
  type ConvertJson,
  decodeEnvelope,
  type EventFrames,
  encodeListHead,
  encodeWatchEvent,
  eventFrames,
  jsonConverter,
  listEnd,
  ProtobufError,
  type WriteInto,
  writeListItem,
} from './protobuf/index.ts';
export {
  type Table,
  type TableBuilder,
  type TableInclude,
  type TableOptions,
  type TableRow,
  tableBuilder,
  toTable,
} from './table.ts';
export { loadYamlReader, type ParsedYaml, writeYaml, YamlError, type YamlReader } from './yaml/index.ts';
