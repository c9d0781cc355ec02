/** The process of a group: runs the test files named in its arguments, one after another, and reports each. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { reportText, Tally } from '../tally.ts';
import type { GroupReport } from './report.ts';
import { reportDescriptor } from './report.ts';

const [timeoutMs, ...files] = process.argv.slice(2);

/** Written at once, so that it arrives even when a test ends the process right after it. */
function report(line: GroupReport): void {
  writeSync(reportDescriptor, `${JSON.stringify(line)}\n`);
}

const events = run({
  files: [join(import.meta.dirname, 'suites.ts')],
  isolation: 'none',
  timeout: Number(timeoutMs),
});
let tally = new Tally();
/** The outermost suites are those of the files, and each ends after all that is in it. */
const endsFile = ({ name, nesting }: { name: string; nesting: number }): boolean =>
  nesting === 0 && files.includes(name);
const close = (file: string, durationMs: number): void => {
  report({ file, counts: tally.counts, seconds: durationMs / 1000 });
  tally = new Tally();
};
events.on('test:pass', (data) => {
  tally.add({ type: 'test:pass', data });
  if (endsFile(data)) close(data.name, data.details.duration_ms);
});
events.on('test:fail', (data) => {
  tally.add({ type: 'test:fail', data });
  if (endsFile(data)) close(data.name, data.details.duration_ms);
});
let success = false;
events.on('test:summary', (summary) => {
  success = summary.success;
});
for await (const text of reportText(events)) process.stdout.write(text);
report({ success });
