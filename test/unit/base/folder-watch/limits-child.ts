import { writeFileSync } from 'node:fs';
import { watchFolder } from '../../../../src/base/folder-watch/index.ts';
import { createLogger, systemClock } from '../../../../src/base/index.ts';

/*
 * Follows a folder and writes each view as a line; the log goes to standard error. When a file named `raise` appears it
 * raises the limits of its user namespace.
 */

const [folder = ''] = process.argv.slice(2);
const log = createLogger({ format: 'text', level: 'info', output: process.stderr });
const watch = watchFolder({
  ...{ folder, depth: 3, settleMs: 10, pollMs: 50, retryMs: 100, rescanMs: 3_600_000 },
  ...{ log, clock: systemClock },
});
watch.onChange(({ view }) => {
  if (view.entries.has('raise'))
    for (const name of ['watches', 'instances']) writeFileSync(`/proc/sys/user/max_inotify_${name}`, '100');
  process.stdout.write(`${view.by} ${[...view.entries.keys()].join(',')}\n`);
});
await watch.run(new AbortController().signal, () => undefined);
