import { Option } from 'commander';

export interface OutputFlags {
  output?: 'json' | 'yaml';
}

export const outputOption = () =>
  new Option('-o, --output <format>', 'json or yaml (default: for people)').choices(['json', 'yaml']);

/** `people` makes the text for them. */
export async function rendered(
  { output }: OutputFlags,
  value: unknown,
  people: () => string,
): Promise<string> {
  if (output === undefined) return people();
  if (output === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  const { writeYaml } = await import('../../api/index.ts');
  return writeYaml(value);
}

/** Columns as wide as they need be, the first row as the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}
