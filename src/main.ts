#!/usr/bin/env node
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { restartBounded } from './base/bounded-memory/index.ts';

// The only place that knows the process: arguments and environment go in, signals go in, the exit code comes out.

/** How long an ordered stop may take before the process is ended all the same. */
const lastResortMs = 20_000;

const stop = new AbortController();
// a control plane that an agent started hears Ctrl-C and the end of the terminal too, but the agent decides when it stops
const embedded = process.channel !== undefined && process.channel !== null;
// before anything else is loaded; an agent starts its control plane so from the beginning
if (process.argv[2] === 'apiserver' && !embedded) restartBounded(process);

const all: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
let hangupListener: (() => void) | undefined;
const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
for (const name of all) {
  const obey = !embedded || name === 'SIGTERM';
  process.on(name, () => {
    // a terminal that goes takes what runs in it along; the same signal without that is a word from an operator
    const told = name === 'SIGHUP' && terminals.every((descriptor) => isatty(descriptor));
    if (told && hangupListener) hangupListener();
    else if (obey) stop.abort();
  });
}
// the runtime would open a debugger for every user of the machine on the one, and end at once on the other
for (const name of ['SIGUSR1', 'SIGUSR2'] as const) process.on(name, () => undefined);
process.stdout.on('error', () => undefined); // the reader of our output may go before we do
process.stderr.on('error', () => undefined);

function lastResort(code: number): void {
  setTimeout(() => process.exit(code), lastResortMs).unref();
}
stop.signal.addEventListener('abort', () => lastResort(1));

const { run } = await import('./cli/index.ts');
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  get stdin() {
    return process.stdin; // opened only when somebody reads it
  },
  signal: stop.signal,
  onHangup(listener) {
    hangupListener = listener;
    return {
      [Symbol.dispose]() {
        hangupListener = undefined;
      },
    };
  },
  stop: () => stop.abort(),
  script: fileURLToPath(import.meta.url),
  agent: embedded ? process : undefined,
});
if (process.connected) process.disconnect(); // an open channel would keep this process alive
// nothing is left to do: what still holds the process is not worth waiting for
lastResort(process.exitCode);
