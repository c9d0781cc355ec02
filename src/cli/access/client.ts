import { join } from 'node:path';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../client/index.ts';

export interface ServerFlags {
  rootDir: string;
  kubeconfig?: string;
}

/** A client with the credentials of a kubeconfig: the one that is named, or the administrator's in the root dir. */
export async function accessClient({ rootDir, kubeconfig }: ServerFlags): Promise<ApiClient> {
  if (kubeconfig !== undefined) return new ApiClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
  return new ApiClient(clientOptionsOf(await administrators(rootDir)));
}

async function administrators(rootDir: string): Promise<Kubeconfig> {
  const file = join(rootDir, 'admin.kubeconfig');
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
