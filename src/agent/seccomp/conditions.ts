import type { ArgCondition } from './types.ts';

const all64 = (1n << 64n) - 1n;

/** Returns equal keys for conditions that are the same to libseccomp. */
export function conditionKey({ index, op, value, valueTwo }: ArgCondition): string {
  if (op !== 'SCMP_CMP_MASKED_EQ') return `${index} ${op} ${value}`;
  if (value === all64) return `${index} SCMP_CMP_EQ ${valueTwo}`;
  return `${index} ${op} ${value} ${valueTwo & value}`;
}

/**
 * Groups the conditions of a rule into sets that must hold together, as runc does: one set of all, but one set for each
 * condition when two are on the same argument. A rule without conditions always matches.
 */
export function groupConditions(args: readonly ArgCondition[]): readonly (readonly ArgCondition[])[] {
  return hasRepeatedIndex(args) ? args.map((each) => [each]) : [args];
}

export function hasRepeatedIndex(args: readonly ArgCondition[]): boolean {
  return new Set(args.map(({ index }) => index)).size < args.length;
}

/** Returns undefined when the argument's value is not known. */
export function evaluateCondition(
  condition: ArgCondition,
  known: ReadonlyMap<number, bigint>,
): boolean | undefined {
  const given = known.get(condition.index);
  if (given === undefined) return undefined;
  const { op, value, valueTwo } = condition;
  switch (op) {
    case 'SCMP_CMP_EQ':
      return given === value;
    case 'SCMP_CMP_NE':
      return given !== value;
    case 'SCMP_CMP_LT':
      return given < value;
    case 'SCMP_CMP_LE':
      return given <= value;
    case 'SCMP_CMP_GT':
      return given > value;
    case 'SCMP_CMP_GE':
      return given >= value;
    case 'SCMP_CMP_MASKED_EQ':
      return (given & value) === (valueTwo & value);
  }
}

const signs = {
  SCMP_CMP_EQ: '==',
  SCMP_CMP_NE: '!=',
  SCMP_CMP_LT: '<',
  SCMP_CMP_LE: '<=',
  SCMP_CMP_GT: '>',
  SCMP_CMP_GE: '>=',
} as const;

/** For the user: `arg0 == 8`, `arg1 & 0x7e020000 == 0`. */
export function formatCondition({ index, op, value, valueTwo }: ArgCondition): string {
  if (op === 'SCMP_CMP_MASKED_EQ')
    return `arg${index} & 0x${value.toString(16)} == 0x${(valueTwo & value).toString(16)}`;
  return `arg${index} ${signs[op]} ${value}`;
}

export const isOperator = (text: string): text is ArgCondition['op'] =>
  text === 'SCMP_CMP_MASKED_EQ' || Object.hasOwn(signs, text);
export const operators: readonly string[] = [...Object.keys(signs), 'SCMP_CMP_MASKED_EQ'];
