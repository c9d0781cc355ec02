import type { Service } from '../../base/index.ts';
import type { Pki, PkiOptions } from './pki.ts';
import { openPki } from './pki.ts';

export interface RenewalOptions extends PkiOptions {
  /** What is in use. */
  pki: Pki;
  /** Told what is to be used from now on, when something was made anew. */
  onRenewed(pki: Pki): Promise<void>;
}

/** Soon enough after the wall clock was set, too. */
const everyMs = 5 * 60_000;

/** The service `certificates`: looks every five minutes and makes anew what nears its end or no longer fits. */
export function pkiRenewal(options: RenewalOptions): Service {
  const { clock, onRenewed } = options;
  let inUse = options.pki;
  return {
    name: 'certificates',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      for (;;) {
        await clock.sleep(everyMs, signal);
        if (signal.aborted) return;
        const now = await openPki(options);
        if (now.serving.cert === inUse.serving.cert && now.admin.cert === inUse.admin.cert) continue;
        await onRenewed(now);
        inUse = now;
      }
    },
  };
}
