import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerHash } from '../../../../../src/agent/containers/index.ts';
import type {
  ContainerRecord,
  Plan,
  PlanInput,
  PodRecord,
  ProbeResults,
  Step,
  StopStep,
  Termination,
} from '../../../../../src/agent/pods/plan/index.ts';
import { planPod } from '../../../../../src/agent/pods/plan/index.ts';
import type { ContainerView, SandboxView } from '../../../../../src/agent/pods/view/types.ts';
import type { Pod } from '../../../../../src/api/index.ts';

/* Builders for the tables: each case says in one line what there is, and what is to be done. */

export const nowMs = 1_000_000_000;
/** Seconds before now, as a time. */
export const ago = (seconds: number): number => nowMs - seconds * 1000;
export const later = (seconds: number): number => nowMs + seconds * 1000;

type PodSpec = NonNullable<Pod['spec']>;
export type Container = PodSpec['containers'][number];

export function container(name: string, more: Partial<Container> = {}): Container {
  return { name, image: 'app:1', ...more };
}

export const sidecar = (name: string, more: Partial<Container> = {}): Container =>
  container(name, { restartPolicy: 'Always', ...more });

export interface PodOptions extends Partial<Omit<PodSpec, 'initContainers' | 'containers'>> {
  readonly init?: readonly Container[];
  readonly regular?: readonly Container[];
  readonly metadata?: Pod['metadata'];
  readonly status?: Pod['status'];
}

/** With one regular container `web`, unless said otherwise. */
export function pod(options: PodOptions = {}): Pod {
  const { init = [], regular = [container('web')], metadata = {}, status = {}, ...spec } = options;
  return {
    metadata: { name: 'pod', namespace: 'ns', uid: 'uid', ...metadata },
    spec: { terminationGracePeriodSeconds: 30, ...spec, initContainers: [...init], containers: [...regular] },
    status,
  };
}

export function sandbox(attempt = 0, more: Partial<SandboxView> = {}): SandboxView {
  return {
    id: `s${attempt}`,
    attempt,
    isReady: true,
    createdMs: ago(3600),
    ips: ['10.0.0.1'],
    network: 'pod',
    runtimeHandler: '',
    labels: {},
    annotations: {},
    ...more,
  };
}

export const deadSandbox = (attempt = 0, more: Partial<SandboxView> = {}): SandboxView =>
  sandbox(attempt, { isReady: false, ips: [], ...more });

/** Its id is `NAME-ATTEMPT`, its sandbox `s0`. */
function instance(name: string, attempt: number, more: Partial<ContainerView>): ContainerView {
  const hash = { 'io.kubernetes.container.hash': containerHash({ name, image: 'app:1' }) };
  return {
    id: `${name}-${attempt}`,
    sandboxId: 's0',
    name,
    attempt,
    state: 'running',
    createdMs: ago(3600),
    startedMs: ago(3600),
    finishedMs: undefined,
    exitCode: 0,
    reason: '',
    message: '',
    image: 'app:1',
    imageRef: 'app@sha256:1',
    imageId: 'sha256:1',
    logPath: '',
    annotations: { ...hash, 'io.kubernetes.container.restartCount': String(attempt) },
    user: undefined,
    resources: undefined,
    mounts: [],
    ...more,
  };
}

export const running = (name: string, attempt = 0, more: Partial<ContainerView> = {}): ContainerView =>
  instance(name, attempt, more);

export const created = (name: string, attempt = 0, more: Partial<ContainerView> = {}): ContainerView =>
  instance(name, attempt, { state: 'created', startedMs: undefined, ...more });

export const unknown = (name: string, attempt = 0): ContainerView =>
  instance(name, attempt, { state: 'unknown' });

/** It ended an hour ago, unless said otherwise. */
export function exited(
  name: string,
  exitCode: number,
  attempt = 0,
  more: Partial<ContainerView> = {},
): ContainerView {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return instance(name, attempt, { state: 'exited', exitCode, reason, finishedMs: ago(1800), ...more });
}

export const lastExit = (
  attempt: number,
  exitCode: number,
  more: Partial<NonNullable<ContainerRecord['lastExit']>> = {},
): NonNullable<ContainerRecord['lastExit']> => ({
  id: `gone-${attempt}`,
  attempt,
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  message: '',
  startedMs: ago(3600),
  finishedMs: ago(1800),
  sandboxId: 's0',
  ...more,
});

export interface Given extends Partial<Omit<PlanInput, 'pod' | 'view' | 'record' | 'images' | 'probes'>> {
  readonly pod?: Pod;
  readonly sandboxes?: readonly SandboxView[];
  readonly containers?: readonly ContainerView[];
  readonly record?: Partial<PodRecord>;
  /** Of containers: what the record knows. */
  readonly known?: Readonly<Record<string, ContainerRecord>>;
  /** Instead of the image being there. */
  readonly images?: Readonly<Record<string, 'missing' | 'pulling' | 'failed'>>;
  readonly probes?: Readonly<Record<string, ProbeResults>>;
  readonly termination?: Termination;
}

/** A pod that the node has accepted, with everything ready for its containers; one sandbox that is ready, unless said otherwise. */
export function inputOf(given: Given): PlanInput {
  const {
    pod: ofPod = pod(),
    sandboxes = [sandbox()],
    containers = [],
    record,
    known,
    images,
    probes,
    termination,
    ...more
  } = given;
  const isEmpty = sandboxes.length === 0 && containers.length === 0;
  return {
    pod: ofPod,
    origin: 'api',
    view: isEmpty
      ? undefined
      : { uid: 'uid', namespace: 'ns', name: 'pod', sandboxes, containers: sorted(containers) },
    record: {
      takenMs: ago(7200),
      isAdmitted: true,
      ips: [],
      containers: known ?? {},
      ...(termination === undefined ? {} : { termination }),
      ...record,
    },
    underWay: [],
    nowMs,
    isNetworkReady: true,
    networkMessage: '',
    isPrepared: true,
    volumes: { state: 'ready' },
    images: imagesOf(ofPod, images ?? {}),
    probes: new Map(Object.entries(probes ?? {})),
    settings: { maxRestartWaitMs: 300_000 },
    ...more,
  };
}

function sorted(containers: readonly ContainerView[]): ContainerView[] {
  return [...containers].sort((a, b) =>
    a.name === b.name ? b.attempt - a.attempt : a.name < b.name ? -1 : 1,
  );
}

type ImageStates = PlanInput['images'];
type ImageState = ImageStates extends ReadonlyMap<string, infer State> ? State : never;

function imagesOf({ spec }: Pod, states: NonNullable<Given['images']>): ImageStates {
  const all = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  const images = new Map<string, ImageState>();
  for (const { name } of all) {
    const state = states[name];
    if (state === undefined) images.set(name, { state: 'present', id: 'sha256:1', user: {} });
    if (state === 'pulling') images.set(name, { state, message: `pulling ${name}` });
    if (state === 'failed') {
      images.set(name, { state, reason: 'ImagePullBackOff', message: 'no such image', untilMs: later(20) });
    }
  }
  return images;
}

/** Such as `start web#0`, `stop web-0 30s`, `runSandbox 1`. */
export function formatStep(step: Step): string {
  switch (step.kind) {
    case 'start':
      return `start ${step.container}#${step.attempt}`;
    case 'stop':
      return `stop ${step.containerId} ${step.graceSeconds}s${step.runsPreStop ? '' : ' without preStop'}`;
    case 'runSandbox':
      return `runSandbox ${step.attempt}${formatFirst(step.stopFirst)}`;
    case 'release':
      return `release${formatFirst(step.stopFirst)}`;
    case 'removeContainer':
      return `remove ${step.containerId}`;
    case 'stopSandbox':
    case 'removeSandbox':
      return `${step.kind} ${step.sandboxId}`;
    case 'resize': {
      const names = step.containers.map(({ containerId }) => containerId).join();
      return `resize ${names}${step.isLast ? ' last' : ''}`;
    }
    case 'prepare':
      return 'prepare';
  }
}

const formatFirst = (ids: readonly string[] = []): string => (ids.length === 0 ? '' : ` after ${ids.join()}`);

/** What a case expects; what it does not name does not matter. */
export interface Expected {
  readonly steps?: readonly string[];
  readonly stage?: Plan['stage'];
  /** `reason: message` of the wait of the pod, or the start of it; empty: none. */
  readonly wait?: string;
  /** By container. */
  readonly waits?: Readonly<Record<string, string>>;
  readonly wakeMs?: number | undefined;
  readonly images?: readonly string[];
  readonly terminate?: Partial<Termination> | 'none';
  /** Of the first stop. */
  readonly stop?: Partial<StopStep>;
}

/** The fact, what there is, and what is to follow: steps alone, or more. */
export type Case = readonly [fact: string, given: Given, expected: readonly string[] | Expected];

export function table(title: string, cases: readonly Case[]): void {
  describe(title, () => {
    for (const [fact, given, expected] of cases) {
      it(fact, () => check(planPod(inputOf(given)), 'length' in expected ? { steps: expected } : expected));
    }
  });
}

export function check(plan: Plan, expected: Expected): void {
  const { steps, stage, wait, waits, images, terminate, stop } = expected;
  if (steps !== undefined) assert.deepEqual(plan.steps.map(formatStep), steps);
  if (stage !== undefined) assert.equal(plan.stage, stage);
  if (wait !== undefined) assertStart(formatWaitOf(plan.wait), wait);
  for (const [name, text] of Object.entries(waits ?? {}))
    assertStart(formatWaitOf(plan.waits.get(name)), text);
  if ('wakeMs' in expected) assert.equal(plan.wakeMs, expected.wakeMs);
  if (images !== undefined) {
    assert.deepEqual(
      plan.imagesWanted.map((each) => `${each.container}#${each.attempt}`),
      images,
    );
  }
  if (terminate === 'none') assert.equal(plan.terminate, undefined);
  else if (terminate !== undefined) assert.partialDeepStrictEqual(plan.terminate ?? {}, terminate);
  if (stop !== undefined)
    assert.partialDeepStrictEqual(plan.steps.find(({ kind }) => kind === 'stop') ?? {}, stop);
}

function formatWaitOf(wait: Plan['wait']): string {
  return wait === undefined ? '' : `${wait.reason}: ${wait.message}`;
}

function assertStart(actual: string, expected: string): void {
  if (expected === '') assert.equal(actual, '');
  else assert.ok(actual.startsWith(expected), `is "${actual}", should begin with "${expected}"`);
}
