/**
 * Stories of Jobs: pods end at random, and the controller is killed at random before any of its writes. What became of each pod is
 * known here, so that what the Job counts can be compared.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Job, JobSpec, Pod } from '../../../../../src/api/index.ts';
import { jobKind, podKind } from '../../../../../src/api/index.ts';
import type { CachedStore } from '../../../../../src/apiserver/storage/index.ts';
import { workloadControllers } from '../../../../../src/apiserver/workloads/index.ts';
import { delayAfter } from '../../../../../src/apiserver/workloads/job/backoff.ts';
import { IndexSet } from '../../../../../src/apiserver/workloads/job/indexes.ts';
import type { Random } from '../../../../support/repetition.ts';
import { below, rounds, withSeed } from '../../../../support/repetition.ts';
import { storeWith } from '../../controllers/interleaved-store.ts';
import type { World } from '../world.ts';
import { prepare, secondMs } from '../world.ts';

const indexKey = 'batch.kubernetes.io/job-completion-index';
const finalizer = 'batch.kubernetes.io/job-tracking';

/** Kills those who write through it: after so many writes none succeeds any more; the last may succeed without an answer. */
class Killer {
  #left = Number.POSITIVE_INFINITY;
  #losesAnswer = false;

  arm(writes: number, losesAnswer: boolean): void {
    this.#left = writes;
    this.#losesAnswer = losesAnswer;
  }

  disarm(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  storeOf(storage: CachedStore): CachedStore {
    const failed = { ok: false, code: 'unavailable', cause: new Error('killed') } as const;
    return storeWith(storage, {
      commit: async (write) => {
        if (this.#left <= 0) return failed;
        this.#left -= 1;
        const outcome = await storage.commit(write);
        return this.#left === 0 && this.#losesAnswer ? { ...failed, code: 'unknown' } : outcome;
      },
    });
  }
}

interface End {
  readonly phase: string;
  readonly index: number;
  readonly atMs: number;
}

const hasEnded = (phase: string | undefined) => phase === 'Succeeded' || phase === 'Failed';
const indexOf = ({ metadata }: Pod) => Number(metadata?.annotations?.[indexKey] ?? -1);

/** One Job and what really became of its pods. */
class Story {
  readonly #world: World;
  readonly #killer: Killer;
  readonly #random: Random;
  readonly #spec: Partial<JobSpec>;
  /** Of pods that had the finalizer when they ended, by uid. */
  readonly #ends = new Map<string, End>();
  /** Uids of those that were gone when the controller began anew: how long ago they failed is known to nobody then. */
  readonly #forgotten = new Set<string>();
  /** What was wrong when a pod was made: followers must not throw. */
  readonly #wrong: string[] = [];

  constructor(world: World, killer: Killer, random: Random, spec: Partial<JobSpec>) {
    this.#world = world;
    this.#killer = killer;
    this.#random = random;
    this.#spec = spec;
  }

  async play(steps: number): Promise<void> {
    const world = this.#world;
    const pods = world.registry.of(podKind);
    using _watching = pods.follow({ added: (stored) => this.#check(pods.encoding.read(stored)) });
    await world.start();
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'image' }] } };
    await world.create(jobKind, { metadata: { name: 'job' }, spec: { template, ...this.#spec } });
    for (let step = 0; step < steps && !this.#isOver; step += 1) await this.#step();
    if (this.#job.spec?.suspend) await this.#suspend(false);
    for (let step = 0; step < 500 && !this.#isOver; step += 1) {
      const [pod] = this.#active;
      if (pod === undefined) await world.clock.advance(20 * secondMs);
      else await this.#end(pod, 'Succeeded');
    }
    assert.deepEqual(this.#wrong, []);
    this.#compare();
    await world.clock.advance(secondMs);
    const before = world.storage.applied;
    await world.clock.advance(300 * secondMs);
    assert.equal(world.storage.applied, before, 'nothing is written when all is over');
  }

  get #job(): Job {
    return this.#world.get(jobKind, 'job');
  }

  get #isOver(): boolean {
    const { conditions = [] } = this.#job.status ?? {};
    return conditions.some(({ type }) => type === 'Complete' || type === 'Failed');
  }

  get #active(): Pod[] {
    return this.#world
      .pods()
      .filter(({ metadata, status }) => !metadata?.deletionTimestamp && !hasEnded(status?.phase));
  }

  /** A pod has been made: it must not be too many, nor too early. */
  #check(pod: Pod): void {
    const { parallelism = 1, completions = 1, completionMode } = this.#spec;
    const active = this.#active;
    const counted = `${active.length} pods at once`;
    if (active.length > Math.min(parallelism, completions)) this.#wrong.push(counted);
    const indexes = active.map(indexOf);
    const isTwice = completionMode === 'Indexed' && new Set(indexes).size < indexes.length;
    if (isTwice) this.#wrong.push(`indexes ${indexes.join()} at once`);
    const failures = this.#failuresBefore(indexOf(pod));
    if (failures.length === 0) return;
    const waitedMs = this.#world.clock.now() - Math.max(...failures.map(({ atMs }) => atMs));
    if (waitedMs < delayAfter(failures.length) - secondMs)
      this.#wrong.push(`made ${waitedMs} ms after ${failures.length} failures`);
  }

  /** Those since the last success; with a limit for each index, those of the index. */
  #failuresBefore(index: number): End[] {
    const isPerIndex = this.#spec.backoffLimitPerIndex !== undefined;
    const ends = [...this.#ends]
      .filter(([uid, end]) => !this.#forgotten.has(uid) && (!isPerIndex || end.index === index))
      .map(([, end]) => end);
    const successes = ends.filter(({ phase }) => phase === 'Succeeded').map(({ atMs }) => atMs);
    const sinceMs = Math.max(0, ...successes) + secondMs;
    return ends.filter(({ phase, atMs }) => phase === 'Failed' && atMs > sinceMs);
  }

  async #step(): Promise<void> {
    const isKilled = this.#random() < 0.35;
    if (isKilled) this.#killer.arm(below(8, this.#random), this.#random() < 0.3);
    await this.#act(this.#random());
    if (!isKilled) return;
    await this.#world.stop();
    this.#killer.disarm();
    const left = new Set(this.#world.pods().map(({ metadata }) => metadata?.uid));
    for (const uid of this.#ends.keys()) if (!left.has(uid)) this.#forgotten.add(uid);
    await this.#world.start();
  }

  async #act(dice: number): Promise<void> {
    const active = this.#active;
    const pod = active[below(active.length, this.#random)];
    if (pod === undefined || dice < 0.2)
      return await this.#world.clock.advance(below(60, this.#random) * secondMs);
    if (dice < 0.5) return await this.#end(pod, 'Failed');
    if (dice < 0.8) return await this.#end(pod, 'Succeeded');
    if (dice < 0.9) return await this.#delete(pod);
    await this.#suspend(!this.#job.spec?.suspend);
  }

  async #end(pod: Pod, phase: string): Promise<void> {
    this.#note(pod, phase);
    await this.#world.report(pod.metadata?.name ?? '', phase);
  }

  /** No node has it, so it goes as soon as it is counted; that is a failure. */
  async #delete(pod: Pod): Promise<void> {
    this.#note(pod, 'Failed');
    await this.#world.remove(podKind, pod.metadata?.name ?? '');
  }

  async #suspend(suspend: boolean): Promise<void> {
    const make = (now: Job): Job => ({ ...now, ...(now.spec && { spec: { ...now.spec, suspend } }) });
    await this.#world.change(jobKind, 'job', make);
    await this.#world.clock.advance(0);
  }

  /** One without the finalizer was let go, and its end is not for the Job to count. */
  #note(pod: Pod, phase: string): void {
    if (!pod.metadata?.finalizers?.includes(finalizer)) return;
    const end = { phase, index: indexOf(pod), atMs: this.#world.clock.now() };
    this.#ends.set(pod.metadata.uid ?? '', end);
  }

  #compare(): void {
    const { status } = this.#job;
    const ends = [...this.#ends.values()];
    const failed = ends.filter(({ phase }) => phase === 'Failed');
    const succeeded = ends.filter(({ phase }) => phase === 'Succeeded');
    assert.ok(this.#isOver, `it ends: ${JSON.stringify(status)}`);
    assert.equal(status?.failed ?? 0, failed.length, 'failures');
    assert.deepEqual(status?.uncountedTerminatedPods, {});
    const { backoffLimitPerIndex: limit, completions = 0, completionMode } = this.#spec;
    if (completionMode !== 'Indexed') {
      assert.equal(status?.succeeded ?? 0, succeeded.length);
      return;
    }
    const completed = IndexSet.of(succeeded.map(({ index }) => index));
    assert.deepEqual(
      [status?.completedIndexes ?? '', status?.succeeded ?? 0],
      [String(completed), completed.size],
    );
    if (limit === undefined) return;
    const isFailed = (index: number) => failed.filter((end) => end.index === index).length > limit;
    const indexes = Array.from({ length: completions }, (_, index) => index);
    assert.equal(status?.failedIndexes, String(IndexSet.of(indexes.filter(isFailed))));
  }
}

const kinds: Readonly<Record<string, (random: Random) => Partial<JobSpec>>> = {
  'a Job': () => ({ backoffLimit: 1000 }),
  'an indexed Job': () => ({ backoffLimit: 1000, completionMode: 'Indexed' }),
  'a Job with a limit for each index': (random) => ({
    ...{ completionMode: 'Indexed', backoffLimitPerIndex: below(3, random) },
  }),
};

describe('whatever is killed when, each pod is counted once, and none is too many or too early', () => {
  for (const [name, specOf] of Object.entries(kinds)) {
    test(name, () =>
      withSeed(async (random) => {
        for (let round = 0; round < rounds({ usual: 12, full: 300 }); round += 1) {
          const killer = new Killer();
          await using world = await prepare(workloadControllers, (storage) => killer.storeOf(storage));
          const numbers = { parallelism: 1 + below(4, random), completions: 1 + below(6, random) };
          await new Story(world, killer, random, { ...numbers, ...specOf(random) }).play(30);
        }
      }),
    );
  }
});
