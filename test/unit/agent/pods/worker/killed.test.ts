/** An agent that is killed, wherever in its work, records included: the next one goes on where it was. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../../src/api/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';
import { SmallApi } from './small-api.ts';

const uid = 'uid-life';
/** More than any life has steps. */
const never = 10_000;

const hook = { exec: { command: ['true'] } };
const pod: Pod = {
  metadata: { name: 'life', namespace: 'default', uid },
  spec: {
    initContainers: [
      { name: 'init', image: 'app:1' },
      { name: 'side', image: 'app:1', restartPolicy: 'Always' },
    ],
    containers: [{ name: 'main', image: 'app:1', lifecycle: { postStart: hook, preStop: hook } }],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 5,
  },
};

/** The same without init containers. */
const lonely: Pod = {
  ...pod,
  spec: { ...pod.spec, containers: pod.spec?.containers ?? [], initContainers: [] },
};

/** What has ended well is not started again; the other one runs on. */
const withOther: Pod = {
  ...pod,
  spec: {
    containers: ['main', 'other'].map((name) => ({ name, image: 'app:1' })),
    restartPolicy: 'OnFailure',
  },
};

interface Outcome {
  readonly steps: readonly string[];
  readonly complaints: readonly string[];
}

/** A life from creation to its end, with one restart of a container; the agent is killed at the step of that number. */
async function live(killedAt: number): Promise<Outcome> {
  await using folder = await temporaryFolder('pods-');
  const api = new SmallApi();
  const steps: string[] = [];
  const world = new NodeWorld(folder.path, {
    killedAt: (step) => steps.push(step) === killedAt + 1,
    onTold: api.told,
    onDeleted: api.confirmed,
    behaviours: ({ name, attempt }) => {
      api.began(uid, name, attempt);
      if (name === 'init') return { exitAfterMs: 1000 };
      const isFirst = api.runs.get(uid)?.count('main') === 1;
      return name === 'main' && isFirst ? { exitAfterMs: 3000, exitCode: 1 } : {};
    },
  });
  const until = async (what: string, holds: () => boolean | Promise<boolean>) => {
    await world.until(what, async () => {
      api.publish(world);
      if (world.isDead) {
        await world.kill();
        world.start();
      }
      return await holds();
    });
  };
  world.start();
  api.create(pod);
  await until('the second run', () => {
    const { ready, restartCount } = api.pods[0]?.status?.containerStatuses?.[0] ?? {};
    return ready === true && restartCount === 1 && world.running() === 2;
  });
  await world.pass(2000);
  api.expectCounts(uid);
  api.delete(uid, 5);
  await until('it to be gone', () => api.pods.length === 0 && world.isEmpty());
  await until('nothing to be left', async () => (await world.leftovers()).length === 0);
  await world.stop();
  return { steps, complaints: [...api.complaints, ...world.runtime.violations] };
}

describe('an agent that is killed', () => {
  test('soon after it has told of a run whose hook goes on, and the container is gone since', async () => {
    await using folder = await temporaryFolder('pods-');
    const api = new SmallApi();
    const world = new NodeWorld(folder.path, {
      onTold: api.told,
      behaviours: ({ name, attempt }) => {
        api.began(uid, name, attempt);
        return {};
      },
    });
    api.create(lonely);
    api.publish(world);
    world.runtime.fault({ call: 'execSync', kind: 'hang' });
    world.start();
    const main = () => world.statuses.get(uid)?.containerStatuses?.[0];
    await world.until('it to run', () => main()?.state?.running !== undefined);
    await world.kill();
    const { id = '' } = world.runtime.running('main') ?? {};
    world.runtime.lose(id);
    api.publish(world);
    world.start();
    await world.until('it to run again', () => main()?.ready === true && world.running() === 1);
    api.expectCounts(uid);
    assert.equal(main()?.restartCount, 1);
    assert.deepEqual(api.complaints, []);
    world.runtime.clearFaults();
    await world.stop();
  });

  test('soon after it has told of an end after which nothing follows, and the container is gone since', async () => {
    await using folder = await temporaryFolder('pods-');
    const api = new SmallApi();
    const world = new NodeWorld(folder.path, {
      onTold: api.told,
      behaviours: ({ name, attempt }) => {
        api.began(uid, name, attempt);
        return name === 'main' && api.runs.get(uid)?.count('main') === 1 ? { exitAfterMs: 20_000 } : {};
      },
    });
    api.create(withOther);
    api.publish(world);
    world.start();
    const stateOf = (container: string) =>
      world.statuses.get(uid)?.containerStatuses?.find(({ name }) => name === container)?.state;
    await world.until('both to run', () => world.running() === 2);
    await world.until('one to end', () => stateOf('main')?.terminated !== undefined);
    await world.kill();
    const { id = '' } = world.runtime.containers().find(({ state }) => state === 'exited') ?? {};
    world.runtime.lose(id);
    api.publish(world);
    world.start();
    await world.pass(60_000);
    assert.equal(api.runs.get(uid)?.count('main'), 1);
    assert.equal(stateOf('main')?.terminated?.containerID, `containerd://${id}`);
    assert.ok(stateOf('other')?.running);
    assert.deepEqual(api.complaints, []);
    await world.stop();
  });

  test('while the runtime makes a container, which comes to be when its pod is gone', async () => {
    await using folder = await temporaryFolder('pods-');
    const api = new SmallApi();
    const world = new NodeWorld(folder.path, { onTold: api.told, onDeleted: api.confirmed });
    world.runtime.fault({ call: 'createContainer', kind: 'hang' });
    api.create(lonely);
    api.publish(world);
    world.start();
    await world.until('the call', () => world.runtime.calls.includes('createContainer'));
    await world.kill();
    world.runtime.killSandbox(world.runtime.sandboxes()[0]?.id ?? '');
    api.publish(world);
    world.start();
    await world.until('another sandbox, with its container', () => world.running() === 1);
    api.delete(uid, 0);
    api.publish(world);
    await world.until('it to be gone', () => api.pods.length === 0 && world.isEmpty());
    api.publish(world);
    await world.pass(5000);
    const { length } = world.runtime.calls;
    world.runtime.clearFaults();
    await world.until('the late one to go', () => world.runtime.calls.includes('removeContainer', length));
    const isClean = async () => world.isEmpty() && (await world.leftovers()).length === 0;
    await world.until('nothing to be left', isClean);
    await world.stop();
  });

  test('at any one step of a life', async () => {
    const { steps } = await live(never);
    assert.ok(steps.length > 50, steps.join('; '));
    const numbers = [...steps.keys()];
    const lives = await Promise.all(
      numbers.map(async (number) => {
        const { complaints } = await live(number).catch((error: unknown) => ({
          complaints: [String(error)],
        }));
        return complaints.map((complaint) => `killed at ${number} (${steps[number]}): ${complaint}`);
      }),
    );
    assert.deepEqual(lives.flat(), []);
  });
});
