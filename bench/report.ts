/** Prints a line of the table that all benchmarks of servers share. */
export function printRow([first = '', ...rest]: readonly string[]): void {
  process.stdout.write(`${first.padEnd(44)}${rest.map((cell) => cell.padStart(15)).join('')}\n`);
}

/** Whether a target was met, and if not, by how much it was missed. */
export function verdict(value: number, target: number, unit: string, atLeast = false): readonly string[] {
  const ratio = atLeast ? target / value : value / target;
  const sign = atLeast ? '≥' : '≤';
  return [`${sign} ${target} ${unit}`, ratio <= 1 ? 'met' : `missed ×${ratio.toFixed(2)}`];
}
