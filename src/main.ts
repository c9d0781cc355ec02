#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import {
  boundedMemoryEnvironment,
  boundedMemoryFlags,
  collectAtRest,
  restartBounded,
  smallMemoryEnvironment,
  smallMemoryFlags,
} from './base/bounded-memory/index.ts';

// The only file that uses the process itself: its arguments, environment, signals, streams and exit code.

/** Max time for an ordered stop; after it the process exits anyway. */
const maxStopMs = 20_000;

const stop = new AbortController();
// a control plane that an agent started also gets the signals of the terminal, but the agent decides when it stops
const embedded = process.channel !== undefined && process.channel !== null;
// before anything else is loaded; an agent starts its control plane with bounded memory in the first place
if (process.argv[2] === 'apiserver' && !embedded)
  restartBounded(process, boundedMemoryFlags, boundedMemoryEnvironment);
if (process.argv[2] === 'agent') restartBounded(process, smallMemoryFlags, smallMemoryEnvironment);
collectAtRest();

nameProcess('nodeward');

const stopSignals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
let hangupListener: (() => void) | undefined;
const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
for (const name of stopSignals) {
  const stops = !embedded || name === 'SIGTERM';
  process.on(name, () => {
    // a closed terminal stops its processes; if all terminals are open, the signal was sent on purpose
    const isRequest = name === 'SIGHUP' && terminals.every((descriptor) => isatty(descriptor));
    if (isRequest && hangupListener) hangupListener();
    else if (stops) stop.abort();
  });
}
// by default Node.js would open a debugger for every user of the machine on SIGUSR1, and exit at once on SIGUSR2
for (const name of ['SIGUSR1', 'SIGUSR2'] as const) process.on(name, () => undefined);
process.stdout.on('error', noteLostOutput);
process.stderr.on('error', () => undefined);

/** What a command prints is its result: one that cannot be written is a failure. Servers print a log only. */
function noteLostOutput(error: NodeJS.ErrnoException): void {
  const isServer = process.argv[2] === 'agent' || process.argv[2] === 'apiserver';
  const isReaderGone = error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY);
  if (isServer || isReaderGone) return;
  process.stdout.off('error', noteLostOutput).on('error', () => undefined);
  process.stderr.write(`nodeward: the output could not be written: ${error.message}\n`);
  process.on('exit', (code) => {
    if (code === 0) process.exitCode = 1;
  });
}

/** For ps and the journal; process.title would replace the command line, by which processes are recognised. */
function nameProcess(name: string): void {
  try {
    writeFileSync('/proc/self/comm', name);
  } catch {
    // a name for people
  }
}

function exitLater(code: number): void {
  setTimeout(() => process.exit(code), maxStopMs).unref();
}
stop.signal.addEventListener('abort', () => exitLater(1));

const { run } = await import('./cli/index.ts');
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  get stdin() {
    return process.stdin; // opened only when it is read
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
  onExit(listener) {
    process.on('exit', listener);
    return { [Symbol.dispose]: () => void process.off('exit', listener) };
  },
  stop: () => stop.abort(),
  script: fileURLToPath(import.meta.url),
  agent: embedded ? process : undefined,
});
if (process.connected) process.disconnect(); // an open channel would keep this process alive
// nothing is left to do; whatever still keeps the process alive is not worth waiting for
exitLater(process.exitCode);
