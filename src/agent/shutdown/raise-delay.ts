import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/index.ts';
import { describeError, writeFileAtomic } from '../../base/index.ts';
import type { Logind } from './logind.ts';

/**
 * Where drop-ins of logind's configuration last until the machine starts again: nothing of it is left on a disk when the agent
 * is not there any more, and a service may write there that may not write to /etc.
 */
export const logindFolder = '/run/systemd/logind.conf.d';
const fileName = '99-nodeward.conf';

const checkEveryMs = 100;
/** logind has read its configuration again by then. */
const reloadTimeoutMs = 5000;

export interface RaiseOptions {
  /** Default `logindFolder`. */
  readonly folder?: string;
  readonly clock: Clock;
}

/**
 * Has logind wait for `seconds` (InhibitDelayMaxSec), and resolves with how many milliseconds it waits then. Rejects with what
 * the operator should do where it does not.
 */
export async function raiseDelay(
  { folder = logindFolder, clock }: RaiseOptions,
  logind: Logind,
  seconds: number,
  signal: AbortSignal,
): Promise<number> {
  const text = `# nodeward: shutdownGracePeriod, or shutdownGracePeriodByPodPriority\n[Login]\nInhibitDelayMaxSec=${seconds}\n`;
  let why = 'another drop-in of its configuration says something else';
  try {
    const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
    if (isNew) await chmod(folder, 0o755); // the service's umask leaves others nothing
    await writeFileAtomic(join(folder, fileName), text, { mode: 0o644 });
    await logind.reload();
    const endMs = clock.monotonicMs() + reloadTimeoutMs;
    do {
      const { maxDelayMs } = await logind.read();
      if (maxDelayMs >= seconds * 1000) return maxDelayMs;
      await clock.sleep(checkEveryMs, signal);
    } while (clock.monotonicMs() < endMs && !signal.aborted);
  } catch (error) {
    signal.throwIfAborted();
    why = describeError(error);
  }
  throw new Error(
    `logind could not be asked to wait for ${seconds} s (${why}); set InhibitDelayMaxSec=${seconds} in /etc/systemd/logind.conf.d, then: systemctl kill --signal=HUP systemd-logind`,
  );
}
