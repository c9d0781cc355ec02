export { isRecord } from '../../base/index.ts';
export * from './build.ts';
export {
  type Checker,
  checkerOf,
  complaintsLimit,
  type Findings,
  joinPath,
  nameOf,
  shortStep,
  typeNameOf,
  wrongLimit,
} from './check.ts';
export { replaceNulls } from './nulls.ts';
export { scalarRule } from './scalars.ts';
export type {
  Field,
  FieldDefault,
  Fields,
  Infer,
  ListMerge,
  ListType,
  MapType,
  Scalar,
  ScalarType,
  StructType,
  Type,
} from './types.ts';
export { removeWrittenZeros, withWritten } from './written.ts';
export { isAlwaysPresent, isUnset, keepsZero, zeroItemOf, zeroOf } from './zeros.ts';
