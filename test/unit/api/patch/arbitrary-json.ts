import type { Arbitrary } from 'fast-check';
import fc from 'fast-check';

/** Few names, so that documents and patches meet; the odd ones are those that programs stumble over. */
export const memberName: Arbitrary<string> = fc.constantFrom(
  'a',
  'b',
  'c',
  'd/e',
  'f~g',
  '',
  '0',
  '1',
  '-',
  '__proto__',
  'constructor',
  'length',
);

/** JSON of any shape, with members of the same few names. */
export function json({ nulls }: { nulls: boolean }): Arbitrary<unknown> {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar(nulls),
      fc.array(tie('value'), { maxLength: 4 }),
      object(tie('value')),
    ),
  }));
  return value;
}

/** An object of JSON, as documents of the API are. */
export function jsonObject(options: { nulls: boolean }): Arbitrary<Record<string, unknown>> {
  return object(json(options));
}

function scalar(nulls: boolean): Arbitrary<unknown> {
  const small = fc.constantFrom<unknown>(0, 1, -1.5, 1e21, true, false, '', 'x', 'y');
  return nulls ? fc.oneof(small, fc.constant(null)) : small;
}

/** As a parser makes them: `__proto__` is an own member. */
function object(value: Arbitrary<unknown>): Arbitrary<Record<string, unknown>> {
  return fc
    .array(fc.tuple(memberName, value), { maxLength: 4 })
    .map((entries): Record<string, unknown> => Object.fromEntries(entries));
}
