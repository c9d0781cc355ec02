export * from './build.ts';
export {
  type Checker,
  checkerOf,
  type Findings,
  findingsLimit,
  isRecord,
  nameOf,
  shortStep,
} from './check.ts';
export { scalarRule } from './scalars.ts';
export type {
  Field,
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
