import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type {
  Allocation,
  PlanInput,
  PodRecord,
  ResizeStep,
} from '../../../../../src/agent/pods/plan/index.ts';
import {
  askedAllocation,
  planPod,
  withAllocation,
  withBegun,
  withGiven,
  withResized,
} from '../../../../../src/agent/pods/plan/index.ts';
import type { ContainerView } from '../../../../../src/agent/pods/view/types.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { container, pod, running, sandbox } from './support.ts';

/** Millis of cpu of two containers, of which `b` restarts for that. */
type Amounts = readonly [a: number, b: number];

const restarting = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];

function podOf([a, b]: Amounts, generation: number): Pod {
  const limits = (millis: number) => ({ resources: { limits: { cpu: `${millis}m` } } });
  return pod({
    metadata: { generation },
    regular: [container('a', limits(a)), container('b', { ...limits(b), resizePolicy: restarting })],
  });
}

const cpuOf = ({ containers }: Allocation, name: string) =>
  Number(containers[name]?.limits?.['cpu']?.slice(0, -1));

/** A node with one pod: what its containers and its cgroup really have, and what is on the disk. */
class SmallNode {
  readonly has = new Map<string, { attempt: number; millis: number; isRunning: boolean }>();
  /** Of the cgroup of the pod. */
  group: number;
  record: PodRecord;
  #pod: Pod;
  #generation = 1;
  /** Whether a resize has failed, and the agent that knows it still lives. */
  isFailed = false;

  constructor(amounts: Amounts) {
    this.#pod = podOf(amounts, 1);
    const allocation = askedAllocation(this.#pod);
    this.record = { takenMs: 0, isAdmitted: true, ips: ['10.0.0.1'], containers: {}, allocation };
    this.group = this.#sum();
    for (const name of ['a', 'b']) this.#start(name, 0);
  }

  get allocation(): Allocation {
    return this.record.allocation ?? assert.fail('nothing was given');
  }

  ask(amounts: Amounts): void {
    this.#pod = podOf(amounts, ++this.#generation);
    this.record = withGiven(this.record, askedAllocation(this.#pod));
    this.isFailed = false;
  }

  crash(name: string): void {
    const it = this.has.get(name);
    if (it !== undefined) it.isRunning = false;
  }

  plan() {
    return planPod(this.#input());
  }

  /** Carries out what is planned; `cut`: after so many calls the agent is killed, or a call fails. */
  step(cut: number, isKilled: boolean): boolean {
    const { steps } = this.plan();
    for (const each of steps) {
      if (each.kind === 'stop') this.crash(each.container);
      if (each.kind === 'start') this.#start(each.container, each.attempt);
      if (each.kind === 'resize') this.#resize(each, cut, isKilled);
    }
    return steps.length > 0;
  }

  #resize(step: ResizeStep, cut: number, isKilled: boolean): void {
    const begun = this.record;
    this.record = withBegun(this.record, step, undefined);
    const calls = [
      () => (this.group = Math.max(this.group, this.#sum())),
      ...step.containers.map(({ container: name }) => () => {
        const it = this.has.get(name) ?? assert.fail();
        it.millis = cpuOf(this.allocation, name);
        this.assertSound();
      }),
      ...(step.isLast ? [() => (this.group = this.#sum())] : []),
    ];
    const done = isKilled ? cut : Math.max(cut, 1); // what fails has at least got its cgroup
    for (const call of calls.slice(0, done)) call();
    this.assertSound();
    this.isFailed = done < calls.length && !isKilled;
    if (done >= calls.length) this.record = withResized(this.record, step, begun);
  }

  /** No container may have more than its group: the kernel would refuse that. */
  assertSound(): void {
    for (const [name, { millis, isRunning }] of this.has)
      assert.ok(!isRunning || millis <= this.group, `${name} has ${millis} of ${this.group}`);
  }

  assertAtRest(): void {
    for (const name of ['a', 'b']) {
      assert.equal(this.has.get(name)?.isRunning, true);
      assert.equal(this.has.get(name)?.millis, cpuOf(this.allocation, name));
    }
    assert.equal(this.group, this.#sum());
    assert.equal(this.record.replaced, undefined);
  }

  #sum(): number {
    return cpuOf(this.allocation, 'a') + cpuOf(this.allocation, 'b');
  }

  #start(name: string, attempt: number): void {
    const start = { kind: 'start', container: name, type: 'regular', sandboxId: 's0', attempt } as const;
    this.record = withBegun(this.record, { ...start, restartCount: attempt, imageId: 'i' }, undefined);
    this.has.set(name, { attempt, millis: cpuOf(this.allocation, name), isRunning: true });
  }

  #input(): PlanInput {
    const containers: ContainerView[] = [...this.has].map(([name, { attempt, isRunning }]) =>
      running(name, attempt, isRunning ? {} : { state: 'exited', finishedMs: 0, exitCode: 1 }),
    );
    const images = new Map(
      ['a', 'b'].map((name) => [name, { state: 'present', id: 'i', user: {} }] as const),
    );
    const resizeFailure = { reason: 'ResizeError', message: 'in use', atMs: 0, count: 1 };
    return {
      ...{ pod: withAllocation(this.#pod, this.record.allocation), origin: 'api', nowMs: 10 ** 12 },
      view: { uid: 'uid', namespace: 'ns', name: 'pod', sandboxes: [sandbox()], containers },
      ...{ record: this.record, underWay: [], isNetworkReady: true, networkMessage: '' },
      ...{ volumes: { state: 'ready' }, images, probes: new Map() },
      ...(this.isFailed ? { resizeFailure } : {}),
      settings: { maxRestartWaitMs: 300_000 },
    };
  }
}

const amount = fc.constantFrom(100, 200, 500, 1000);
const amounts = fc.tuple(amount, amount);

describe('a resize', () => {
  test('comes to rest with what was asked for last, whatever fails, dies or crashes in between', () => {
    const happening = fc.oneof(
      fc.record({ kind: fc.constant('ask' as const), amounts }),
      fc.record({ kind: fc.constant('crash' as const), name: fc.constantFrom('a', 'b') }),
      fc.record({ kind: fc.constant('step' as const), cut: fc.nat(4), isKilled: fc.boolean() }),
    );
    fc.assert(
      fc.property(amounts, fc.array(happening, { maxLength: 25 }), (first, happenings) => {
        const node = new SmallNode(first);
        for (const each of happenings) {
          if (each.kind === 'ask') node.ask(each.amounts);
          else if (each.kind === 'crash') node.crash(each.name);
          else node.step(each.cut, each.isKilled);
          node.assertSound();
        }
        const isAtRest = Array.from({ length: 20 }).some(() => !node.step(10, false));
        assert.ok(isAtRest, 'it does not come to rest');
        node.assertAtRest();
      }),
      { numRuns: 500 },
    );
  });

  test('of what changes nothing is no step', () => {
    const node = new SmallNode([100, 100]);
    assert.deepEqual(node.plan().steps, []);
    node.ask([100, 100]);
    while (node.step(10, false));
    assert.equal(node.has.get('b')?.attempt, 0);
  });

  test('restarts only the container whose policy wants it, and says why', () => {
    const node = new SmallNode([100, 100]);
    node.ask([200, 200]);
    const { steps, wait } = node.plan();
    assert.deepEqual(
      steps.map((step) => (step.kind === 'stop' ? step.message : step.kind)),
      ['Container b resize requires restart', 'resize'],
    );
    assert.equal(wait?.reason, 'ResizeInProgress');
  });
});
