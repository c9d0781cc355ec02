/** The cells of one line of comma-separated values (RFC 4180); `""` in quotes is a quote. */
export function splitCsvLine(line: string): string[] {
  const cells: string[] = [];
  const cell = /\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/y;
  while (cell.lastIndex < line.length) {
    const [, quoted, plain = ''] = cell.exec(line) ?? [];
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
  }
  return cells;
}
