/** Random pods on a runtime that fails, with an agent that is killed anywhere: what is told of them is true and never taken back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Wait } from '../../../../../src/agent/pods/plan/index.ts';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { SimulatedContainer } from '../../../../support/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { calmBehaviour, pick, randomBehaviour, randomPodSpec } from '../../../../support/random-pods.ts';
import type { Random } from '../../../../support/repetition.ts';
import { below, chooseSeed, randomFrom, rounds } from '../../../../support/repetition.ts';
import { NodeWorld } from './node-world.ts';
import { SmallApi } from './small-api.ts';

const worlds = rounds({ usual: 6, full: 400 });
const podsOfWorld = 4;
const chaosRounds = 80;

const changing = [
  ...(['runSandbox', 'stopSandbox', 'removeSandbox', 'createContainer', 'createContainer'] as const),
  ...(['startContainer', 'startContainer', 'stopContainer', 'removeContainer'] as const),
] as const;

const atOnce = 6;

/** Pods of one node, one for each name at a time. */
class ChaosWorld {
  readonly api = new SmallApi();
  readonly world: NodeWorld;
  readonly #random: Random;
  #isCalm = false;
  #pods = 0;

  constructor(folder: string, random: Random) {
    this.#random = random;
    this.world = new NodeWorld(folder, {
      killedAt: () => !this.#isCalm && this.#random() < 0.02,
      onTold: this.api.told,
      onDeleted: this.api.confirmed,
      behaviours: ({ name, attempt, podUid }) => {
        this.api.began(podUid, name, attempt);
        return this.#isCalm ? calmBehaviour(name) : randomBehaviour(this.#random, name);
      },
    });
    this.world.start();
  }

  create(name: string): void {
    this.#pods += 1;
    const spec = randomPodSpec(this.#random);
    const { initContainers = [], ephemeralContainers: _none, ...rest } = spec;
    const inits = initContainers.map(({ startupProbe: _probe, ...init }) => init);
    const metadata = { name, namespace: 'default', uid: `${name}-${this.#pods}` };
    this.api.create({ metadata, spec: { ...rest, initContainers: inits } });
  }

  /** One moment: something may go wrong, and time passes. */
  async step(): Promise<void> {
    if (!this.#isCalm) this.#goWrong();
    if (this.world.isDead) {
      await this.world.kill();
      this.world.start();
    }
    this.api.publish(this.world);
    await this.world.pass(this.#isCalm ? 1000 : pick(this.#random, [10, 10, 300, 1000, 3000] as const));
  }

  calm(): void {
    this.#isCalm = true;
    this.world.runtime.clearFaults();
  }

  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let step = 0; step < 1500; step += 1) {
      if (await holds()) return;
      await this.step();
    }
    const { manager, runtime } = this.world;
    const workers = manager.workers().map(({ uid, plan, record }) => [uid, plan?.stage, plan?.wait, record]);
    const inRuntime = [...runtime.sandboxes(), ...runtime.containers()].map(({ name }) => name);
    const left = await this.world.leftovers();
    const pods = this.api.pods.map(({ metadata, status }) => [metadata, status]);
    throw new Error(`in vain for ${what}: ${JSON.stringify({ left, inRuntime, workers, pods })}`);
  }

  #goWrong(): void {
    const random = this.#random;
    const { runtime } = this.world;
    const running = runtime.containers().filter(({ state }) => state === 'running');
    const victim = running[below(running.length, random)];
    const pod = this.api.pods[below(this.api.pods.length, random)];
    const dice = random();
    if (dice < 0.1 && victim) runtime.exit(victim.id, pick(random, [0, 1, 42, 137] as const));
    else if (dice < 0.16 && victim && this.#isTold(victim)) runtime.lose(victim.id);
    else if (dice < 0.2) this.#killSandbox();
    else if (dice < 0.3) this.#addFault();
    else if (dice < 0.33) runtime.clearFaults();
    else if (dice < 0.335) runtime.reboot();
    else if (dice < 0.36 && pod) this.#replace(pod);
  }

  /** What nobody was told of cannot be counted. */
  #isTold({ id, config }: SimulatedContainer): boolean {
    const uid = config.labels?.['io.kubernetes.pod.uid'] ?? '';
    const { initContainerStatuses = [], containerStatuses = [] } =
      this.api.pods.find(({ metadata }) => metadata?.uid === uid)?.status ?? {};
    return [...initContainerStatuses, ...containerStatuses].some(
      ({ containerID = '', state }) => containerID.endsWith(`//${id}`) && state?.running !== undefined,
    );
  }

  #killSandbox(): void {
    const ready = this.world.runtime.sandboxes().filter(({ isReady }) => isReady);
    const sandbox = ready[below(ready.length, this.#random)];
    if (sandbox !== undefined) this.world.runtime.killSandbox(sandbox.id);
  }

  #addFault(): void {
    const kind = pick(this.#random, ['before', 'after', 'after', 'hang', 'hangAfter'] as const);
    const reason = pick(this.#random, ['failed', 'unavailable'] as const);
    const call = pick(this.#random, changing);
    this.world.runtime.fault({ call, kind, error: new RuntimeError(reason, `${call} fails`) });
  }

  #replace({ metadata }: Pod): void {
    const { name = '', uid = '' } = metadata ?? {};
    if (this.#random() < 0.5) this.api.delete(uid, below(5, this.#random));
    else {
      this.api.drop(uid);
      this.create(name);
    }
  }
}

async function live(seed: number): Promise<string[]> {
  await using folder = await temporaryFolder('pods-');
  const chaos = new ChaosWorld(folder.path, randomFrom(seed));
  const { api, world } = chaos;
  for (let number = 0; number < podsOfWorld; number += 1) chaos.create(`pod${number}`);
  for (let round = 0; round < chaosRounds; round += 1) await chaos.step();
  chaos.calm();
  await chaos.until('all to come to rest', () => api.pods.every((pod) => isAtRest(pod, world)));
  for (const { metadata } of api.pods) api.expectCounts(metadata?.uid ?? '');
  for (const { metadata } of api.pods) api.delete(metadata?.uid ?? '', 5);
  await chaos.until('all to be gone', () => api.pods.length === 0 && world.isEmpty());
  await chaos.until('nothing to be left', async () => (await world.leftovers()).length === 0);
  await world.stop();
  return [...api.complaints, ...world.runtime.violations];
}

/** Nothing is to be done for it but to start again what keeps ending. */
function isAtRest({ status, metadata }: Pod, { manager }: NodeWorld): boolean {
  const plan = manager.worker(metadata?.uid ?? '')?.plan;
  if (status === undefined || plan === undefined) return false;
  if (plan.stage === 'ended') return true;
  const isAgain = ([name, { reason }]: [string, Wait]) =>
    name.startsWith('job') && reason === 'CrashLoopBackOff';
  return plan.stage === 'running' && plan.steps.length === 0 && [...plan.waits].every(isAgain);
}

test('random pods come to rest, and what is told of them is true', async (test) => {
  const first = chooseSeed();
  test.diagnostic(`NODEWARD_TEST_SEED=${first}`);
  const seeds = Array.from({ length: worlds }, (_, index) => first + index);
  const found: string[] = [];
  for (let begin = 0; begin < seeds.length; begin += atOnce) {
    const together = seeds.slice(begin, begin + atOnce).map(async (seed) => {
      const complaints = await live(seed).catch((error: unknown) => [String(error)]);
      return complaints.map((complaint) => `NODEWARD_TEST_SEED=${seed}: ${complaint}`);
    });
    found.push(...(await Promise.all(together)).flat());
  }
  assert.deepEqual(found, []);
});
