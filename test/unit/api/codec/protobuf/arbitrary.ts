import type { GeneratorValue } from 'fast-check';
import fc from 'fast-check';
import type { Field, Scalar, StructType, Type } from '../../../../../src/api/schema/index.ts';

/*
 * Values that the checker of a description accepts and leaves as they are, so that they can be compared with what comes
 * back from the bytes.
 */

const digits = fc.integer({ min: 0, max: 999_999 });
const second = fc.integer({ min: -62_135_596_799, max: 253_402_300_799 });
const key = fc.oneof(
  fc.constantFrom('', '__proto__', 'constructor', 'app.kubernetes.io/name'),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const text = fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 40 }));
/** As a parser gives it: without a zero below zero. A key with a backslash is refused by ours. */
const json = fc
  .json({ maxDepth: 2 })
  .filter((encoded) => !encoded.includes('\\'))
  .map((encoded): unknown => JSON.parse(encoded));

const scalars: Readonly<Record<Scalar, fc.Arbitrary<unknown>>> = {
  string: text,
  bool: fc.boolean(),
  int32: fc.oneof(fc.constant(0), fc.integer()),
  int64: fc.oneof(fc.constant(0), fc.maxSafeInteger()),
  double: fc.oneof(fc.constant(0), fc.double({ noNaN: true, noDefaultInfinity: true })),
  bytes: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  time: second.map((seconds) => `${toTheSecond(seconds)}Z`),
  microTime: fc
    .tuple(second, digits)
    .map(([seconds, micros]) => `${toTheSecond(seconds)}.${String(micros).padStart(6, '0')}Z`),
  duration: fc.constantFrom('0s', '1m30s', '-1h0m0.5s', '1.5ms', '3µs', '7ns', '2562047h47m16.854775807s'),
  quantity: fc.constantFrom('0', '500m', '16Gi', '1e3', '-500m'),
  intOrString: fc.oneof(fc.integer(), text),
  fieldsV1: fc.dictionary(fc.constantFrom('f:metadata', 'f:spec', '.'), json, { noNullPrototype: true }),
  raw: json.filter((value) => value !== null),
};

function toTheSecond(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

/** A value of that description; how many fields are set is up to the generator too. */
export function someValue(type: StructType, gen: GeneratorValue): Record<string, unknown> {
  return structOf(type, gen, 0);
}

const depthLimit = 9;

function structOf(type: StructType, gen: GeneratorValue, depth: number): Record<string, unknown> {
  const density = gen(fc.integer, { min: 0, max: 10 });
  const object: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(type.fields)) {
    if (isSet(field, gen, density, depth)) object[name] = anyOf(field.type, gen, depth + 1, leastOf(field));
  }
  return object;
}

/** Where an empty list says something else than none, protobuf has no way to say it. */
function leastOf({ pointer = false }: Field): number {
  return pointer ? 1 : 0;
}

function isSet(
  { proto, required, type }: Field,
  gen: GeneratorValue,
  density: number,
  depth: number,
): boolean {
  if (proto === 0) return false;
  if (required) return true;
  const isScalar = type.t in scalars;
  return (isScalar || depth < depthLimit) && gen(fc.integer, { min: 0, max: 40 }) < density;
}

function anyOf(type: Type, gen: GeneratorValue, depth: number, least = 0): unknown {
  if (type.t === 'ref') return structOf(type.resolve(), gen, depth);
  if (type.t === 'struct') return structOf(type, gen, depth);
  const count = () => (depth < depthLimit ? gen(fc.integer, { min: least, max: 3 }) : least);
  if (type.t === 'list') return Array.from({ length: count() }, () => anyOf(type.of, gen, depth));
  if (type.t !== 'map') return gen(() => scalars[type.t]);
  const entries = Array.from({ length: count() }, () => [gen(() => key), anyOf(type.of, gen, depth)]);
  return Object.fromEntries(entries);
}
