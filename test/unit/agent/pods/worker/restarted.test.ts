/** A container that is stopped so as to start another of it, which follows whatever the policy of the pod says. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../../src/api/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';
import { SmallApi } from './small-api.ts';

const uid = 'uid-changed';

function podWith(image: string, restartPolicy: string): Pod {
  return {
    metadata: { name: 'changed', namespace: 'default', uid },
    spec: { containers: [{ name: 'main', image }], restartPolicy, terminationGracePeriodSeconds: 5 },
  };
}

describe('a container that is restarted for another image', () => {
  for (const restartPolicy of ['Always', 'OnFailure', 'Never'])
    for (const exitCode of [0, 143])
      test(`with ${restartPolicy}, when it ends with ${exitCode}, is told as it is`, async () => {
        await using folder = await temporaryFolder('pods-');
        const api = new SmallApi();
        const world = new NodeWorld(folder.path, {
          onTold: api.told,
          behaviours: ({ name, attempt }) => {
            api.began(uid, name, attempt);
            return { obeysWith: exitCode };
          },
        });
        const main = () => world.statuses.get(uid)?.containerStatuses?.[0];
        api.create(podWith('app:1', restartPolicy));
        api.publish(world);
        world.start();
        await world.until('it to run', () => main()?.ready === true);
        const { length } = world.told.get(uid) ?? [];
        api.change(podWith('app:2', restartPolicy));
        api.publish(world);
        await world.until('the second run', () => api.runs.get(uid)?.count('main') === 2);
        await world.pass(30_000);
        assert.equal(world.running(), 1);
        assert.equal(main()?.containerID, `containerd://${world.runtime.running('main')?.id}`);
        assert.ok(main()?.state?.running);
        const told = (world.told.get(uid) ?? []).slice(length);
        assert.deepEqual(
          told.filter(({ phase }) => phase !== 'Running'),
          [],
        );
        await world.stop();
      });
});
