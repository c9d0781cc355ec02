import { join } from 'node:path';
import { errorCode, exitCodes } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { readKubeconfig } from '../../client/index.ts';
import type { PlaceFlags } from '../flags/common-flags.ts';
import { NoAccessError } from './no-access.ts';

/** The kubeconfig of `--kubeconfig`, or the administrator's in the root dir. Throws an ExitError that says what to do: a NoAccessError where there is none. */
export async function readServerKubeconfig(flags: PlaceFlags): Promise<Kubeconfig> {
  flags.announcePlace?.();
  if (flags.kubeconfig !== undefined) return await readKubeconfig(flags.kubeconfig);
  const file = join(flags.rootDir, 'admin.kubeconfig');
  try {
    return await readKubeconfig(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new NoAccessError(
      exitCodes.configuration,
      `there is no ${file}${await explainElsewhere(flags.rootDir)}; name the control plane's folder with --root-dir, or a kubeconfig with --kubeconfig`,
    );
  }
}

/** The agent that runs there knows where its control plane is, but has no credentials of an administrator. */
async function explainElsewhere(rootDir: string): Promise<string> {
  const { findRunningAgent } = await import('../../agent/index.ts');
  const { agent } = await findRunningAgent(rootDir, AbortSignal.timeout(10_000));
  const place = agent?.controlPlane;
  if (place === undefined || place.mode === 'embedded') return '';
  if (place.mode === 'standalone') return ': the agent that runs there has no control plane';
  const server = await readKubeconfig(place.kubeconfig).then(
    (kubeconfig) => kubeconfig.server,
    () => 'another machine',
  );
  return `: the control plane of the agent that runs there is ${server}, so run this beside it`;
}
