export { depthLimit } from './depth-limit.ts';
export { JsonError } from './error.ts';
export { isGarblingKey } from './garbling-key.ts';
export { formatLineAndColumn } from './line-and-column.ts';
export { type ParsedJson, parseJson } from './parse.ts';
