import { join } from 'node:path';
import type { PodVolumesOptions, VolumesState } from '../../../src/agent/volumes/index.ts';
import { PodVolumes } from '../../../src/agent/volumes/index.ts';
import type { Pod } from '../../../src/api/index.ts';
import { silentLogger, systemClock } from '../../../src/base/index.ts';
import { temporaryFolder, unmountBelow, waitFor } from '../../support/index.ts';
import { withoutApi } from '../../support/without-api.ts';

type Spec = NonNullable<Pod['spec']>;
type Volume = NonNullable<Spec['volumes']>[number];
type Mount = NonNullable<Spec['containers'][number]['volumeMounts']>[number];

export interface VolumeLab extends AsyncDisposable {
  readonly rootDir: string;
  /** The folder of the pod `u1`. */
  readonly podFolder: string;
  readonly volumes: PodVolumes;
  /** As after a restart of the agent. */
  restart(): PodVolumes;
  /** Where an emptyDir of the pod is. */
  emptyDir(name: string): string;
}

export async function volumeLab(change: Partial<PodVolumesOptions> = {}): Promise<VolumeLab> {
  const folder = await temporaryFolder('volumes-');
  const made: PodVolumes[] = [];
  const create = () => {
    const volumes = new PodVolumes({
      rootDir: folder.path,
      memoryBytes: () => 64 * 2 ** 20,
      supportsRecursiveReadOnly: () => true,
      ...withoutApi,
      log: silentLogger(),
      clock: systemClock,
      ...change,
    });
    made.push(volumes);
    return volumes;
  };
  const podFolder = join(folder.path, 'pods/u1');
  return {
    rootDir: folder.path,
    podFolder,
    volumes: create(),
    restart: create,
    emptyDir: (name) => join(podFolder, 'volumes/kubernetes.io~empty-dir', name),
    async [Symbol.asyncDispose]() {
      for (const each of made) each.close();
      await unmountBelow(folder.path);
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A pod `u1` whose container `main` mounts each of the volumes at `/NAME`, or as `mounts` say. */
export function podWith(volumes: Volume[], mounts?: Mount[], spec: Partial<Spec> = {}): Pod {
  const volumeMounts = mounts ?? volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'u1' },
    spec: { containers: [{ name: 'main', image: 'app:1', volumeMounts }], volumes, ...spec },
  };
}

export const podId = { uid: 'u1', namespace: 'default', name: 'web' };

export async function untilReady(volumes: PodVolumes, pod: Pod): Promise<void> {
  await waitFor('the volumes to be ready', () => volumes.want(pod).state === 'ready');
}

/** The state when something has failed. */
export async function untilFailed(
  volumes: PodVolumes,
  pod: Pod,
): Promise<Extract<VolumesState, { state: 'waiting' }>> {
  let state = volumes.want(pod);
  await waitFor('a failure', () => {
    state = volumes.want(pod);
    return state.state === 'waiting' && state.reason !== '';
  });
  if (state.state !== 'waiting') throw new Error('the volumes are ready');
  return state;
}
