/** The lines of an output, without the empty one at its end. */
export function linesOf(output: string): string[] {
  return output.split('\n').filter((line) => line !== '');
}

/** The cells of a line of a table, which are two spaces or more apart. */
export function columnsOf(line = ''): string[] {
  return line.trim().split(/ {2,}/);
}
