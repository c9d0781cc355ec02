export { type Decoded, DecodeError, decodeObject, readStored } from './decode.ts';
export { JsonError, type ParsedJson, parseJson } from './json.ts';
export { type Table, type TableInclude, type TableOptions, type TableRow, toTable } from './table.ts';
