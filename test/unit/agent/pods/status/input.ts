import type { ContainerRecord, Plan, PodRecord, Wait } from '../../../../../src/agent/pods/plan/types.ts';
import type { PodStatus, StatusInput } from '../../../../../src/agent/pods/status/index.ts';
import { computeStatus } from '../../../../../src/agent/pods/status/index.ts';
import type { ContainerView, SandboxView } from '../../../../../src/agent/pods/view/types.ts';
import type { Pod } from '../../../../../src/api/index.ts';

/* A short way to write down what a status is computed from. */

export const nowMs = Date.parse('2026-05-01T12:00:00Z');
export const now = '2026-05-01T12:00:00Z';
export const earlier = '2026-05-01T11:00:00Z';
export const startedAt = '2026-05-01T11:50:00Z';
export const finishedAt = '2026-05-01T11:55:00Z';

type Spec = NonNullable<Pod['spec']>;
type Container = NonNullable<Spec['containers']>[number];

export interface Case {
  readonly spec?: Partial<Spec>;
  readonly metadata?: Pod['metadata'];
  /** As the API has it; also the status before, unless that is given. */
  readonly status?: PodStatus;
  readonly before?: PodStatus;
  readonly containers?: readonly ContainerView[];
  /** Default: one that is ready, where there are containers. */
  readonly sandbox?: Partial<SandboxView> | 'none';
  readonly stage?: Plan['stage'];
  readonly wait?: Wait;
  readonly waits?: Readonly<Record<string, Wait>>;
  readonly record?: Partial<PodRecord>;
  readonly probes?: StatusInput['probes'];
  readonly more?: Partial<StatusInput>;
}

export const container = (name: string, more: Partial<Container> = {}): Container => ({
  name,
  image: `${name}:1`,
  ...more,
});

const view = (name: string, attempt: number, more: Partial<ContainerView>): ContainerView => ({
  id: `${name}-${attempt}`,
  sandboxId: 'sandbox-0',
  name,
  attempt,
  state: 'running',
  createdMs: Date.parse(startedAt) - 1000,
  startedMs: undefined,
  finishedMs: undefined,
  exitCode: 0,
  reason: '',
  message: '',
  image: `${name}:1`,
  imageRef: `registry.test/${name}@sha256:abc`,
  imageId: 'sha256:abc',
  logPath: '',
  annotations: {},
  user: undefined,
  resources: undefined,
  mounts: [],
  ...more,
});

export const created = (name: string, attempt = 0): ContainerView =>
  view(name, attempt, { state: 'created' });

export const running = (name: string, attempt = 0, more: Partial<ContainerView> = {}): ContainerView =>
  view(name, attempt, { startedMs: Date.parse(startedAt), ...more });

export const exited = (
  name: string,
  exitCode: number,
  attempt = 0,
  more: Partial<ContainerView> = {},
): ContainerView =>
  view(name, attempt, {
    state: 'exited',
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedMs: Date.parse(startedAt),
    finishedMs: Date.parse(finishedAt),
    ...more,
  });

export const lostView = (name: string, attempt = 0): ContainerView =>
  view(name, attempt, { state: 'unknown' });

export const wait = (reason: string, message = ''): Wait => ({ reason, message });

export const exitRecord = (
  name: string,
  attempt: number,
  exitCode: number,
): NonNullable<ContainerRecord['lastExit']> => ({
  id: `${name}-${attempt}`,
  attempt,
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  message: '',
  startedMs: Date.parse(startedAt),
  finishedMs: Date.parse(finishedAt),
});

export function inputOf(given: Case): StatusInput {
  const { spec = {}, metadata = {}, status, before = status, containers = [], sandbox = {} } = given;
  const pod: Pod = {
    metadata: { name: 'web', namespace: 'default', uid: 'u1', ...metadata },
    spec: { nodeName: 'n1', containers: [container('c')], ...spec },
    ...(status === undefined ? {} : { status }),
  };
  const ready: SandboxView = {
    ...{ id: 'sandbox-0', attempt: 0, isReady: true, createdMs: 0, ips: ['10.0.0.5'], network: 'pod' },
    ...{ runtimeHandler: '', labels: {}, annotations: {} },
  };
  const hasSandbox = sandbox !== 'none' && (containers.length > 0 || given.sandbox !== undefined);
  const sandboxes = hasSandbox ? [{ ...ready, ...sandbox }] : [];
  const isKnown = containers.length + sandboxes.length > 0;
  return {
    pod,
    origin: 'api',
    view: isKnown ? { uid: 'u1', namespace: 'default', name: 'web', sandboxes, containers } : undefined,
    record: { takenMs: Date.parse(startedAt), isAdmitted: true, ips: [], containers: {}, ...given.record },
    underWay: [],
    nowMs,
    isNetworkReady: true,
    networkMessage: '',
    volumes: { state: 'ready' },
    images: new Map(),
    probes: given.probes ?? new Map(),
    settings: { maxRestartWaitMs: 300_000 },
    plan: {
      ...{ imagesWanted: [] },
      stage: given.stage ?? 'running',
      steps: [],
      wait: given.wait,
      waits: new Map(Object.entries(given.waits ?? {})),
      imagesWanted: [],
    },
    before,
    hostIps: ['192.168.1.7'],
    messages: new Map(),
    runtimeName: 'containerd',
    ...given.more,
  };
}

export const statusOf = (given: Case): PodStatus => computeStatus(inputOf(given));

export const containerOf = (given: Case, name = 'c') => {
  const {
    initContainerStatuses = [],
    containerStatuses = [],
    ephemeralContainerStatuses = [],
  } = statusOf(given);
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].find(
    (each) => each.name === name,
  );
};

export const conditionOf = (given: Case, type: string) =>
  statusOf(given).conditions?.find((each) => each.type === type);
