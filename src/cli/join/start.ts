import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { ExitError, exitCodes, systemClock } from '../../base/index.ts';

const run = promisify(execFile);
const unit = 'nodeward.service';
/** systemd gives the agent a minute to become ready. */
const startTimeoutMs = 120_000;
const pollMs = 200;

/** Whether systemd runs on this machine and knows the agent. */
export async function hasUnit(signal: AbortSignal): Promise<boolean> {
  if (!existsSync('/run/systemd/system')) return false;
  return await run('systemctl', ['cat', unit], { signal }).then(
    () => true,
    () => false,
  );
}

/** Enables the agent's unit, and starts it; with `restart` again, when it runs already. Throws an ExitError. */
export async function startUnit(restart: boolean, signal: AbortSignal): Promise<void> {
  try {
    await run('systemctl', ['enable', '--quiet', unit], { signal, timeout: startTimeoutMs });
    await run('systemctl', [restart ? 'restart' : 'start', unit], { signal, timeout: startTimeoutMs });
  } catch (error) {
    const reason = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new ExitError(
      exitCodes.failed,
      `everything is written, but the agent does not start: ${reason || String(error)}; see: journalctl -u nodeward`,
      { cause: error },
    );
  }
}

/** Waits until a file is there; false when it is not in time. */
export async function waitForFile(path: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const deadline = systemClock.monotonicMs() + timeoutMs;
  while (!existsSync(path)) {
    if (systemClock.monotonicMs() > deadline) return false;
    await systemClock.sleep(pollMs, signal);
    signal.throwIfAborted();
  }
  return true;
}
