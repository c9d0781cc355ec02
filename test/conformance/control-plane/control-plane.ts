import { join } from 'node:path';
import { ensureBuilt } from '../../integration/installation.ts';
import type { RunningApiServer } from '../../integration/nodeward/index.ts';
import { startApiServer } from '../../integration/nodeward/index.ts';
import { temporaryFolder } from '../../support/index.ts';

/** The program's control plane by itself, in a folder of its own. Disposal ends it and removes the folder. */
export type ControlPlane = Pick<RunningApiServer, 'url' | 'kubeconfig'> & AsyncDisposable;

export async function startControlPlane(): Promise<ControlPlane> {
  await ensureBuilt();
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder('control-plane-'));
  const { url, kubeconfig } = setup.use(await startApiServer(join(path, 'root')));
  const resources = setup.move();
  return { url, kubeconfig, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
