export { depthLimit } from './depth-limit.ts';
export { lineAndColumn } from './line-and-column.ts';
export { JsonError, type ParsedJson, parseJson } from './parse.ts';
