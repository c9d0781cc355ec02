/**
 * What failed, once more for the end of a run: of the output of a whole run often only the end is kept, and a failure may be
 * thousands of lines above it.
 */
const maxLinesPerFile = 60;
const maxFiles = 20;
const maxLineLength = 2000;

/** Cancelled because of what failed above them: they say nothing themselves. */
const cancelled = /^test at .*\n✖ .*\n {2}'test did not finish before its parent and was cancelled'\n\s*/gm;

/** What the output of one or several test files says of failures, a section for each file that has some. */
export function failuresIn(output: string): string[] {
  const sections = output.split(/^(?=── )/m);
  return sections.flatMap((section) => {
    const report = reportOf(section);
    return report === '' ? [] : [`${headOf(section)}${cut(report)}${processesIn(section)}`];
  });
}

/** Everything that failed in a run. */
export function formatFailures(failures: readonly string[]): string {
  if (failures.length === 0) return '';
  const more = failures.length - maxFiles;
  const rest = more > 0 ? `… and in ${more} more files\n` : '';
  return `\n══ what failed\n${failures.slice(0, maxFiles).join('\n')}${rest}`;
}

/** From the list of node:test on; without such a list, the lines that the runner wrote itself. */
function reportOf(section: string): string {
  const at = section.search(/^✖ failing tests:$/m);
  const own = (at < 0 ? section : section.slice(0, at)).split('\n').filter((line) => /^✖ .*: /.test(line));
  const listed =
    at < 0
      ? ''
      : section
          .slice(at)
          .replace(/^.*\n\s*/, '')
          .replaceAll(cancelled, '');
  return [...own.map((line) => `${line}\n`), listed].join('');
}

/** What the processes of the first test that failed wrote last: test/support/failure-report.ts. */
const processesIn = (section: string): string => /^┄.*\n(?:┄.*\n)*/m.exec(section)?.[0] ?? '';

const headOf = (section: string): string => /^── .*\n/.exec(section)?.[0] ?? '';

function cut(report: string): string {
  const lines = report
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(0, maxLineLength));
  if (lines.length <= maxLinesPerFile) return `${lines.join('\n')}\n`;
  const half = maxLinesPerFile / 2;
  return `${[...lines.slice(0, half), `… ${lines.length - maxLinesPerFile} lines …`, ...lines.slice(-half)].join('\n')}\n`;
}
