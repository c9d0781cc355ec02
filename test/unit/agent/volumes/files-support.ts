import { join } from 'node:path';
import type { PodVolumesOptions } from '../../../../src/agent/volumes/index.ts';
import { FakeObjects, FakeTokens } from '../../../support/fake-objects.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { seenIn } from './atomic/support.ts';
import { volumesWith } from './support.ts';

/** Volumes below a folder in memory, so that nothing needs to be mounted there. */
export async function volumesOfObjects(change: Partial<PodVolumesOptions> = {}) {
  const folder = await temporaryFolder('volumes-', '/dev/shm');
  const rootDir = change.rootDir ?? folder.path;
  const objects = new FakeObjects();
  const tokens = new FakeTokens();
  const events: string[] = [];
  const made = await volumesWith(undefined, {
    ...{ rootDir, objects, tokens },
    report: (_, { type, reason, message }) => events.push(`${type} ${reason}: ${message}`),
    ...change,
  });
  return {
    ...made,
    ...{ objects, tokens, events, rootDir },
    pathOf: (kind: string, uid = 'u1', name = 'v') =>
      join(rootDir, 'pods', uid, 'volumes', `kubernetes.io~${kind}`, name),
    /** What a container sees of the volume `v` of that kind. */
    seen: (kind: string, uid = 'u1') =>
      seenIn(join(rootDir, 'pods', uid, 'volumes', `kubernetes.io~${kind}`, 'v')),
    async [Symbol.asyncDispose]() {
      await made[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
