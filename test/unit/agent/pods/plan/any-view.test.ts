import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Plan, PlanInput, Step } from '../../../../../src/agent/pods/plan/index.ts';
import { planPod, stepKey } from '../../../../../src/agent/pods/plan/index.ts';
import type { ContainerView, SandboxView } from '../../../../../src/agent/pods/view/types.ts';
import type { Random } from '../../../../support/repetition.ts';
import { below, rounds, withSeed } from '../../../../support/repetition.ts';
import type { Given } from './support.ts';
import {
  ago,
  container,
  created,
  exited,
  inputOf,
  lastExit,
  nowMs,
  pod,
  running,
  sandbox,
  sidecar,
  unknown,
} from './support.ts';

/* Whatever the runtime and the record say, also what they never should. */

const names = ['e', 'i', 's', 'web', 'b', 'stranger'];
const policies = ['Always', 'OnFailure', 'Never'];
const oneOf = <T>(random: Random, values: readonly [T, ...T[]]): T =>
  values[below(values.length, random)] ?? values[0];
const sometimes = <T>(random: Random, value: T): T | undefined => (random() < 0.3 ? value : undefined);

function randomSandbox(random: Random, attempt: number): SandboxView {
  const isReady = random() < 0.7;
  return sandbox(attempt, {
    isReady,
    ips: isReady && random() < 0.9 ? ['10.0.0.1'] : [],
    network: random() < 0.95 ? 'pod' : 'host',
  });
}

function randomContainer(random: Random, name: string, attempt: number): ContainerView {
  const more = { sandboxId: `s${below(2, random)}` };
  const exitCode = oneOf(random, [0, 1, 42, 255]);
  const finishedMs = ago(below(700, random) - 20);
  const ended = exited(name, exitCode, attempt, {
    ...more,
    finishedMs,
    reason: oneOf(random, ['Error', 'Unknown', 'OOMKilled']),
  });
  return oneOf(random, [
    ended,
    ended,
    running(name, attempt, more),
    created(name, attempt, more),
    unknown(name, attempt),
  ]);
}

function randomGiven(random: Random): Given {
  const rules = [
    {
      action: oneOf(random, ['Restart', 'RestartAllContainers']),
      exitCodes: { operator: 'In', values: [42] },
    },
  ];
  const regular = [container('web', random() < 0.5 ? { restartPolicyRules: rules } : {}), container('b')];
  const init = [container('i'), sidecar('s', random() < 0.5 ? { startupProbe: {} } : {})];
  const restartPolicy = policies[below(3, random)] ?? 'Always';
  const containers = names.flatMap((name) =>
    Array.from({ length: below(3, random) }, (_, attempt) => randomContainer(random, name, attempt)),
  );
  const known = Object.fromEntries(
    names.filter(() => random() < 0.4).map((name) => [name, randomRecord(random)]),
  );
  const termination = sometimes(random, {
    cause: oneOf(random, ['deleted', 'gone', 'failed'] as const),
    graceSeconds: below(40, random),
    sinceMs: ago(below(60, random)),
  });
  return {
    pod: pod({ init, regular, restartPolicy, ephemeralContainers: [{ name: 'e', image: 'app:1' }] }),
    sandboxes: Array.from({ length: below(3, random) }, (_, attempt) =>
      randomSandbox(random, attempt),
    ).reverse(),
    containers,
    known,
    record: { isAdmitted: random() < 0.95, isReleased: random() < 0.1 },
    underWay: randomSteps(random),
    volumes: random() < 0.9 ? { state: 'ready' } : { state: 'waiting', reason: '', message: 'm' },
    isPrepared: random() < 0.8,
    images: random() < 0.3 ? { web: oneOf(random, ['missing', 'pulling', 'failed'] as const) } : {},
    probes: random() < 0.2 ? { web: { liveness: false }, s: { startup: random() < 0.5 } } : {},
    ...(termination === undefined ? {} : { termination }),
  };
}

function randomRecord(random: Random): NonNullable<Given['known']>[string] {
  const attempt = below(4, random);
  return {
    attempt,
    ...(random() < 0.5 ? { made: { attempt, restartCount: attempt } } : {}),
    ...(random() < 0.5
      ? { lastExit: lastExit(attempt, oneOf(random, [0, 1, 42]), { isHistory: random() < 0.2 }) }
      : {}),
    ...(random() < 0.2
      ? { failure: { reason: 'r', message: 'm', atMs: ago(below(30, random)), count: 3 } }
      : {}),
    ...(random() < 0.1 ? { restartOf: 'web-0' } : {}),
  };
}

function randomSteps(random: Random): Step[] {
  const stop = {
    kind: 'stop',
    container: 'web',
    containerId: 'web-0',
    graceSeconds: 20,
    deadlineMs: nowMs,
    message: '',
    runsPreStop: true,
  } as const;
  const start = {
    kind: 'start',
    container: 'web',
    type: 'regular',
    sandboxId: 's0',
    attempt: 2,
    restartCount: 2,
    imageId: '',
  } as const;
  const all: Step[] = [
    stop,
    start,
    { kind: 'prepare' },
    { kind: 'removeContainer', containerId: 'b-0', container: 'b' },
  ];
  return all.filter(() => random() < 0.1);
}

function assertSound(input: PlanInput, plan: Plan): void {
  const keys = plan.steps.map(stepKey);
  assert.equal(new Set(keys).size, keys.length, 'two steps of one key');
  for (const step of plan.steps) {
    const isBusy = input.underWay.some((each) => stepKey(each) === stepKey(step));
    assert.ok(!isBusy || step.kind === 'stop', `${step.kind} is under way already`);
    assertStep(input, step);
  }
  assert.ok(plan.wakeMs === undefined || plan.wakeMs > nowMs, 'wakes in the past');
  const isLive = input.view?.containers.some(({ state }) => state !== 'exited') ?? false;
  assert.ok(plan.stage !== 'ended' || !isLive, 'has ended while something lives');
  const hasReason = plan.steps.length > 0 || input.underWay.length > 0 || plan.wait !== undefined;
  const isIdle = plan.stage === 'running' || plan.stage === 'ended';
  assert.ok(hasReason || plan.waits.size > 0 || isIdle, 'does nothing, and does not say why');
  for (const { reason, message } of plan.waits.values())
    assert.ok(reason !== '' && message !== '', 'a wait says nothing');
}

function assertStep(input: PlanInput, step: Step): void {
  const { termination, isReleased, isAdmitted } = input.record;
  const instances = input.view?.containers ?? [];
  if (step.kind === 'start' || step.kind === 'runSandbox' || step.kind === 'prepare') {
    assert.ok(
      termination === undefined && isReleased !== true && isAdmitted,
      `${step.kind} of a pod that ends`,
    );
  }
  if (step.kind === 'runSandbox' || step.kind === 'release') {
    assert.ok(!instances.some(({ state }) => state === 'running'), `${step.kind} while something runs`);
    assert.ok(!input.view?.sandboxes.some(({ isReady }) => isReady), `${step.kind} while a sandbox is ready`);
  }
  if (step.kind !== 'start') return;
  const own = instances.filter(({ name }) => name === step.container);
  assert.ok(
    own.every(({ state }) => state === 'exited'),
    'a second live container',
  );
  assert.ok(
    own.every(({ attempt }) => attempt < step.attempt),
    'an attempt again',
  );
  assert.equal(step.sandboxId, input.view?.sandboxes[0]?.id, 'in an old sandbox');
  assert.equal(input.images.get(step.container)?.state, 'present', 'without its image');
  assert.equal(input.volumes.state, 'ready', 'without its volumes');
}

describe('whatever is there', () => {
  it('the plan is sound, says why it waits, and is the same again', async () => {
    await withSeed((random) => {
      for (let round = 0; round < rounds({ usual: 10_000, full: 500_000 }); round += 1) {
        const input = inputOf(randomGiven(random));
        const plan = planPod(input);
        try {
          assertSound(input, plan);
          assert.deepEqual(planPod(input), plan);
          assert.deepEqual(planPod({ ...input, images: new Map() }).imagesWanted, plan.imagesWanted);
        } catch (error) {
          throw new Error(JSON.stringify({ input, plan, waits: [...plan.waits] }), { cause: error });
        }
      }
    });
  });
});
