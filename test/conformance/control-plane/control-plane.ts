import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { ensureBuilt } from '../../integration/installation.ts';
import { repository } from '../../integration/lab/index.ts';
import type { RunningApiServer } from '../../integration/nodeward/index.ts';
import { startApiServer } from '../../integration/nodeward/index.ts';
import { temporaryFolder } from '../../support/index.ts';

/** The program's control plane by itself, in a folder of its own. Disposal ends it and removes the folder. */
export type ControlPlane = Pick<RunningApiServer, 'url' | 'kubeconfig'> & AsyncDisposable;

export async function startControlPlane(): Promise<ControlPlane> {
  await buildOnce();
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder('control-plane-'));
  const { url, kubeconfig } = setup.use(await startApiServer(join(path, 'root')));
  const resources = setup.move();
  return { url, kubeconfig, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Builds the program where it is out of date. Test files run at once: one builds what the others wait for. */
export async function buildOnce(): Promise<void> {
  const cache = join(repository, '.cache');
  await mkdir(cache, { recursive: true });
  const release = await lock(cache, {
    lockfilePath: join(cache, 'build.lock'),
    retries: { retries: 600, minTimeout: 100, maxTimeout: 100 },
  });
  await ensureBuilt().finally(release);
}
