type Counts = Readonly<Record<string, number>>;

/** Counts as the reference writes them into a status: none that is zero. */
export function withoutZeros<C extends Counts>(counts: C): Partial<C> {
  const result: Partial<C> = { ...counts };
  for (const name in result) if (result[name] === 0) delete result[name];
  return result;
}
