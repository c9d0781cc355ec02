import type { PodVolumesOptions } from '../../../../src/agent/volumes/index.ts';
import { PodVolumes } from '../../../../src/agent/volumes/index.ts';
import type { ToolResult, Tools } from '../../../../src/agent/volumes/tools.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { withoutApi } from '../../../support/without-api.ts';

type Spec = NonNullable<Pod['spec']>;
export type Volume = NonNullable<Spec['volumes']>[number];
export type Mount = NonNullable<Spec['containers'][number]['volumeMounts']>[number];

/** A pod `u1` whose container `main` has these volumes and mounts. */
export function podWith(volumes: Volume[], mounts?: Mount[], spec: Partial<Spec> = {}): Pod {
  const volumeMounts = mounts ?? volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'u1' },
    spec: { containers: [{ name: 'main', image: 'app:1', volumeMounts }], volumes, ...spec },
  };
}

export const podId = { uid: 'u1', namespace: 'default', name: 'web' };

/** Volumes whose programs of the system are functions; by default they succeed and do nothing. */
export async function volumesWith(
  run: (command: string, argv: readonly string[]) => Promise<Partial<ToolResult>> = async () => ({}),
  change: Partial<PodVolumesOptions> = {},
) {
  const folder = await temporaryFolder('volumes-');
  const clock: ManualClock = createManualClock();
  const calls: string[] = [];
  const tools: Tools = {
    run: async (command, argv) => {
      calls.push([command, ...argv].join(' '));
      return { code: 0, output: '', errors: '', ...(await run(command, argv)) };
    },
  };
  const volumes = new PodVolumes({
    rootDir: folder.path,
    memoryBytes: () => undefined,
    supportsRecursiveReadOnly: () => true,
    ...withoutApi,
    log: silentLogger(),
    clock,
    tools,
    ...change,
  });
  return {
    volumes,
    clock,
    calls,
    rootDir: folder.path,
    async [Symbol.asyncDispose]() {
      volumes.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export async function stateOf(volumes: PodVolumes, pod: Pod) {
  volumes.want(pod);
  await waitFor('the first try', () => {
    const state = volumes.want(pod);
    return state.state === 'ready' || state.reason !== '';
  });
  return volumes.want(pod);
}
