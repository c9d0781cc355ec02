import { join } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { ensurePrivateFolder } from '../../base/index.ts';
import { writeAdminKubeconfig } from './admin-kubeconfig.ts';
import type { Pki } from './pki.ts';
import { openPki } from './pki.ts';
import type { ServiceAccountKey } from './service-account-keys.ts';
import { openServiceAccountKey } from './service-account-keys.ts';

/** Where a control plane's keys and certificates come from. */
export interface Keys {
  /** Returns the keys and certificates to use: called at the start and every five minutes, to renew what needs it. */
  pki(): Promise<Pki>;
  /** Returns the key that signs tokens; called once, after `pki`. */
  serviceAccountKey(): Promise<ServiceAccountKey>;
  /** Called with the address of the server (`https://host:port`), and again when there is another certificate. */
  publish(url: string, pki: Pki): Promise<void>;
}

export interface FileKeysOptions {
  /** Holds `pki/` and `admin.kubeconfig`; made when missing. */
  rootDir: string;
  /** As in PkiOptions. */
  serverNames: readonly string[];
  clock: Clock;
  log: Logger;
}

/** Keys in files, which outlive the process. Throws an ExitError for what an operator must mend. */
export function fileKeys({ rootDir, ...options }: FileKeysOptions): Keys & { kubeconfig: string } {
  const kubeconfig = join(rootDir, 'admin.kubeconfig');
  const folder = join(rootDir, 'pki');
  return {
    kubeconfig,
    async pki() {
      await ensurePrivateFolder(rootDir);
      return await openPki({ folder, ...options });
    },
    serviceAccountKey: () => openServiceAccountKey({ folder, log: options.log }),
    publish: (url, { authority, admin }) =>
      writeAdminKubeconfig(kubeconfig, { server: url, ca: authority.cert, ...admin }),
  };
}
