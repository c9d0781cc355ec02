export {
  backslash,
  closeList,
  closeObject,
  colon,
  comma,
  digitZero,
  type JsonCursor,
  openList,
  openObject,
  quote,
  skipValue,
  takeByte,
  takeSeparator,
  UnusualJson,
  unusual,
} from './cursor.ts';
export { depthLimit } from './depth-limit.ts';
export { findStringEnd } from './end-of-string.ts';
export { JsonError } from './error.ts';
export { isGarblingKey } from './garbling-key.ts';
export { readKey } from './key-at.ts';
export { formatLineAndColumn } from './line-and-column.ts';
export { type ParsedJson, parseJson } from './parse.ts';
export { mayHaveHalves, withoutHalves } from './well-formed.ts';
