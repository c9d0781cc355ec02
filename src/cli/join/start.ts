import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { ExitError, exitCodes, systemClock } from '../../base/index.ts';

const run = promisify(execFile);
const unit = 'nodeward.service';
const commandTimeoutMs = 30_000;
const pollMs = 200;

/** Runs systemctl, and returns what it prints; a code other than 0 is an error. */
export type Systemctl = (args: readonly string[], signal: AbortSignal) => Promise<string>;

export const systemctl: Systemctl = async (args, signal) =>
  (await run('systemctl', [...args], { signal, timeout: commandTimeoutMs })).stdout;

/** Whether systemd runs on this machine and knows the agent. */
export async function hasUnit(signal: AbortSignal): Promise<boolean> {
  if (!existsSync('/run/systemd/system')) return false;
  return await systemctl(['cat', unit], signal).then(
    () => true,
    () => false,
  );
}

interface Start {
  /** Start it again when it runs already. */
  restart: boolean;
  /** The file that the agent writes once it has its certificate. */
  credentials: string;
  /** How long to wait for that. */
  timeoutMs: number;
}

/**
 * Enables and starts the agent's unit, and waits until it has written its credentials, or is ready where they were there
 * before; false when that is not so in time. systemctl itself does not wait: the agent is ready only once a certificate is signed, which may take an approval.
 * Throws an ExitError as soon as the unit has failed.
 */
export async function startUnit(
  { restart, credentials, timeoutMs }: Start,
  signal: AbortSignal,
  control: Systemctl = systemctl,
): Promise<boolean> {
  const hadCredentials = existsSync(credentials);
  // of an earlier failure nothing must be left that would look like one of this start
  await control(['reset-failed', unit], signal).catch(() => undefined);
  try {
    await control(['enable', '--quiet', unit], signal);
    await control([restart ? 'restart' : 'start', '--no-block', unit], signal);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw notStarted(reason || String(error), error);
  }
  const deadline = systemClock.monotonicMs() + timeoutMs;
  while (systemClock.monotonicMs() < deadline) {
    await systemClock.sleep(pollMs, signal);
    signal.throwIfAborted();
    const state = await readState(control, signal);
    if (state === 'failed') throw notStarted('it has failed');
    if (existsSync(credentials) && (state === 'active' || !hadCredentials)) return true;
  }
  return false;
}

/** `active`, `activating`, `failed` and so on. */
async function readState(control: Systemctl, signal: AbortSignal): Promise<string> {
  try {
    return (await control(['is-failed', unit], signal)).trim();
  } catch (error) {
    signal.throwIfAborted();
    // its code is not 0 for a unit that has not failed
    return error instanceof Error && 'stdout' in error ? String(error.stdout).trim() : '';
  }
}

const notStarted = (reason: string, cause?: unknown) =>
  new ExitError(
    exitCodes.failed,
    `everything is written, but the agent does not start: ${reason}; see why: journalctl -u nodeward`,
    { cause },
  );
