import type { ArgCondition } from './types.ts';

const all64 = (1n << 64n) - 1n;

/** Equal texts for conditions that libseccomp takes for one and the same. */
export function conditionKey({ index, op, value, valueTwo }: ArgCondition): string {
  if (op !== 'SCMP_CMP_MASKED_EQ') return `${index} ${op} ${value}`;
  if (value === all64) return `${index} SCMP_CMP_EQ ${valueTwo}`;
  return `${index} ${op} ${value} ${valueTwo & value}`;
}

/**
 * The conditions that must hold together, as runc takes a rule: all of them, but where two are on one argument each counts
 * by itself. None of them: the rule always matches.
 */
export function alternatives(args: readonly ArgCondition[]): readonly (readonly ArgCondition[])[] {
  return hasRepeatedIndex(args) ? args.map((each) => [each]) : [args];
}

export function hasRepeatedIndex(args: readonly ArgCondition[]): boolean {
  return new Set(args.map(({ index }) => index)).size < args.length;
}

/** Undefined where the argument's value is not known. */
export function holds(condition: ArgCondition, known: ReadonlyMap<number, bigint>): boolean | undefined {
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

/** For people: `arg0 == 8`, `arg1 & 0x7e020000 == 0`. */
export function describeCondition({ index, op, value, valueTwo }: ArgCondition): string {
  if (op === 'SCMP_CMP_MASKED_EQ')
    return `arg${index} & 0x${value.toString(16)} == 0x${(valueTwo & value).toString(16)}`;
  return `arg${index} ${signs[op]} ${value}`;
}

export const isOperator = (text: string): text is ArgCondition['op'] =>
  text === 'SCMP_CMP_MASKED_EQ' || Object.hasOwn(signs, text);
export const operators: readonly string[] = [...Object.keys(signs), 'SCMP_CMP_MASKED_EQ'];
