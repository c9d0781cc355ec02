import type { Clock, Service } from '../../base/index.ts';
import type { Keys } from './keys.ts';
import type { Pki } from './pki.ts';

export interface RenewalOptions {
  keys: Pick<Keys, 'pki'>;
  clock: Clock;
  /** What is in use. */
  pki: Pki;
  /** Default: nothing. */
  dependsOn?: readonly string[];
  /** Called with what is to be used from now on, after a renewal. */
  onRenewed(pki: Pki): Promise<void>;
}

/** Soon enough after the wall clock was set, too. */
const everyMs = 5 * 60_000;

/** The service `certificates`: checks every five minutes, and renews what expires soon or no longer fits. */
export function pkiRenewal(options: RenewalOptions): Service {
  const { keys, clock, dependsOn = [], onRenewed } = options;
  let inUse = options.pki;
  return {
    name: 'certificates',
    dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      for (;;) {
        await clock.sleep(everyMs, signal);
        if (signal.aborted) return;
        const now = await keys.pki();
        const leaves = ['serving', 'admin', 'agentClient'] as const;
        if (leaves.every((leaf) => now[leaf].cert === inUse[leaf].cert)) continue;
        await onRenewed(now);
        inUse = now;
      }
    },
  };
}
