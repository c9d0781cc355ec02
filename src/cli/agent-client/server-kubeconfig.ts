import { join } from 'node:path';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { readKubeconfig } from '../../client/index.ts';
import type { PlaceFlags } from '../flags/common-flags.ts';

/** The kubeconfig of `--kubeconfig`, or the administrator's in the root dir. Throws an ExitError that says what to do. */
export async function readServerKubeconfig(flags: PlaceFlags): Promise<Kubeconfig> {
  flags.announcePlace?.();
  if (flags.kubeconfig !== undefined) return await readKubeconfig(flags.kubeconfig);
  const file = join(flags.rootDir, 'admin.kubeconfig');
  try {
    return await readKubeconfig(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new ExitError(
      exitCodes.configuration,
      `there is no ${file}; name the control plane's folder with --root-dir, or a kubeconfig with --kubeconfig`,
    );
  }
}
