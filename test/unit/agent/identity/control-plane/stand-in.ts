import { appendFileSync, readFileSync } from 'node:fs';
import { attachToAgent } from '../../../../../src/client/embedded/index.ts';

/*
 * Stands in for `nodeward apiserver` as the child of an agent. Its first flag says how it behaves; the second names a file
 * to which it appends a line for each thing that happens to it.
 */

const [, , , behaviour = '', journal = ''] = process.argv;
const note = (event: string) => appendFileSync(journal, `${event} ${process.pid}\n`);
const place = {
  url: 'https://127.0.0.1:6443',
  ca: '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n',
  kubeconfig: '/root/admin.kubeconfig',
};

note('started');
process.on('exit', () => note('left'));
process.on('SIGINT', () => note('interrupted'));
const never = setInterval(() => undefined, 60_000);
const agent = attachToAgent(process, {
  onStop() {
    note('stop');
    if (behaviour === '--stubborn') return;
    clearInterval(never);
    if (process.connected) process.disconnect();
  },
});

const starts = readFileSync(journal, 'utf8').split('started').length - 1;
if (behaviour === '--mistake' || (behaviour === '--later-mistake' && starts === 2)) {
  await agent.failed('cannot listen on 127.0.0.1:6443: the port is taken', 5);
  process.exit(5);
}
if (behaviour === '--silent-mistake') process.exit(2);
if (behaviour === '--crash') process.exit(1);
if (behaviour === '--log') process.stdout.write('{"level":"info","msg":"from the child"}\n');
agent.ready(place, async ({ node, usage }) => {
  if (node === 'nobody') throw new Error('nobody is no node');
  if (node === 'slow') await new Promise(() => undefined);
  if (node === 'endless') {
    note('endless');
    const endMs = Date.now() + 60_000; // not for good, should nobody be left to end it
    while (Date.now() < endMs); // the event loop hangs
  }
  if (node === 'fatal') process.kill(process.pid, 'SIGKILL');
  return `${place.ca}${node} ${usage}`;
});
