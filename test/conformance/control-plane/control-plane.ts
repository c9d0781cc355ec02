import { join } from 'node:path';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../src/client/index.ts';
import { ensureBuilt } from '../../integration/installation.ts';
import type { RunningApiServer } from '../../integration/nodeward/index.ts';
import { startApiServer, untilAtRest } from '../../integration/nodeward/index.ts';
import { temporaryFolder } from '../../support/index.ts';

/** The program's control plane by itself, in a folder of its own, with all that its controllers make at first. Disposal ends it and removes the folder. */
export type ControlPlane = Pick<RunningApiServer, 'url' | 'kubeconfig'> & AsyncDisposable;

export async function startControlPlane(): Promise<ControlPlane> {
  await ensureBuilt();
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder('control-plane-'));
  const { url, kubeconfig } = setup.use(await startApiServer(join(path, 'root')));
  await using client = new ApiClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
  await untilAtRest(client);
  const resources = setup.move();
  return { url, kubeconfig, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
