import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { formatRun, markerName, ownRun } from './test-run.ts';

/**
 * Starts a process that outlives this one, however it ends, and then ends everything this run has started: it waits for
 * the end of a pipe whose other end only this process has. It is in a session of its own, so that what ends this
 * process's group does not end it. It does not keep this process alive.
 */
export function startReaper(): void {
  const { [markerName]: _marker, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const argv = [join(import.meta.dirname, 'reaper-main.ts'), formatRun(ownRun())];
  const child = spawn(process.execPath, argv, {
    cwd: '/',
    detached: true,
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  child.on('error', () => undefined); // without it, the next run removes what this one leaves
  child.stdin.on('error', () => undefined);
  if (child.stdin instanceof Socket) child.stdin.unref();
}

/** For a test file that is run without the test runner, by node:test alone; otherwise does nothing. */
export function ensureReaper(): void {
  if (process.env['NODE_TEST_CONTEXT'] === undefined || process.env[markerName] !== undefined) return;
  process.env[markerName] = `${formatRun(ownRun())}/alone`;
  startReaper();
}
