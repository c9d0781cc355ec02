import { createNotifier } from '../../../../src/base/index.ts';
import { recordedLog } from '../recorded-log.ts';

/** Says three things to the service manager of the environment and prints what was logged meanwhile. */
const { log, text } = recordedLog();
const notifier = createNotifier(process.env, process.pid, log);
await Promise.all([
  notifier.send('READY=1', 'STATUS=all\nis well'),
  notifier.send('WATCHDOG=1'),
  notifier.send('STOPPING=1'),
]);
console.log(text());
