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
  /** Told what is to be used from now on, when something was made anew. */
  onRenewed(pki: Pki): Promise<void>;
}

/** Soon enough after the wall clock was set, too. */
const everyMs = 5 * 60_000;

/** The service `certificates`: looks every five minutes and makes anew what nears its end or no longer fits. */
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
