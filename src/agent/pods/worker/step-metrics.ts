import type { Clock, MetricsRegistry } from '../../../base/index.ts';
import { Counter, Histogram } from '../../../base/index.ts';
import { knownReason } from '../explain/index.ts';
import type { ContainerType, StartStep, Step } from '../plan/index.ts';
import type { Executor, StartOutcome } from './types.ts';

export interface StepMetrics {
  /** A step has ended; one that was cut off on purpose is not counted. */
  did(step: Step['kind'], seconds: number, isDone: boolean): void;
  /** Right before the call that makes a sandbox, and when it has failed. */
  sandbox(event: 'begun' | 'failed'): void;
  /** Right before a container is started. */
  starting(step: StartStep): void;
  notStarted(type: ContainerType, reason: string): void;
}

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** As the reference names them; a sidecar is an init container there. */
const typeNames = {
  init: 'init_container',
  sidecar: 'init_container',
  regular: 'container',
  ephemeral: 'ephemeral_container',
} as const satisfies Record<ContainerType, string>;

export function stepMetrics(registry: MetricsRegistry): StepMetrics {
  const registers = [registry];
  const durations = new Histogram({
    name: 'nodeward_pod_step_seconds',
    help: 'How long the steps take that are carried out for pods, by kind and whether they failed.',
    labelNames: ['step', 'result'],
    ...{ buckets, registers },
  });
  const sandboxes = new Counter({
    name: 'kubelet_started_pods_total',
    help: 'How often the sandbox of a pod was begun.',
    registers,
  });
  const failedSandboxes = new Counter({
    name: 'kubelet_started_pods_errors_total',
    help: 'How often the sandbox of a pod could not be made.',
    registers,
  });
  const starts = new Counter({
    name: 'kubelet_started_containers_total',
    help: 'How often the start of a container was begun, by the list of the pod that it stands in.',
    labelNames: ['container_type'],
    registers,
  });
  const failedStarts = new Counter({
    name: 'kubelet_started_containers_errors_total',
    help: 'How often a container could not be started, by the reason in its status.',
    labelNames: ['container_type', 'code'],
    registers,
  });
  const restarts = new Counter({
    name: 'nodeward_container_restarts_total',
    help: 'How often a container was started again after an earlier one of its name had ended.',
    registers,
  });
  return {
    did: (step, seconds, isDone) =>
      durations.observe({ step, result: isDone ? 'done' : 'failed' }, Math.max(0, seconds)),
    sandbox: (event) => (event === 'begun' ? sandboxes : failedSandboxes).inc(),
    starting({ type, restartCount }) {
      starts.inc({ container_type: typeNames[type] });
      if (restartCount > 0) restarts.inc();
    },
    notStarted: (type, reason) =>
      failedStarts.inc({ container_type: typeNames[type], code: knownReason(reason) }),
  };
}

/** The same executor, with its steps measured. */
export function measureSteps(
  executor: Executor,
  metrics: StepMetrics,
  clock: Pick<Clock, 'monotonicMs'>,
): Executor {
  /** A step that its caller ended says nothing of the node. */
  async function measure<T>(
    step: Step['kind'],
    signal: AbortSignal | undefined,
    doing: () => Promise<T>,
    isDone: (result: T) => boolean = () => true,
  ): Promise<T> {
    const startMs = clock.monotonicMs();
    const tell = (done: boolean) => metrics.did(step, (clock.monotonicMs() - startMs) / 1000, done);
    try {
      const result = await doing();
      tell(isDone(result));
      return result;
    } catch (error) {
      if (signal?.aborted !== true) tell(false);
      throw error;
    }
  }
  return {
    prepare: (pod, signal) => measure('prepare', signal, () => executor.prepare(pod, signal)),
    async runSandbox(pod, attempt, signal) {
      metrics.sandbox('begun');
      try {
        return await measure('runSandbox', signal, () => executor.runSandbox(pod, attempt, signal));
      } catch (error) {
        if (!signal.aborted) metrics.sandbox('failed');
        throw error;
      }
    },
    stopSandbox: (pod, id) => measure('stopSandbox', undefined, () => executor.stopSandbox(pod, id)),
    removeSandbox: (id) => measure('removeSandbox', undefined, () => executor.removeSandbox(id)),
    async start(work, signal) {
      metrics.starting(work.step);
      const isStarted = (outcome: StartOutcome) => outcome.isStarted;
      const outcome = await measure('start', signal, () => executor.start(work, signal), isStarted);
      if (!outcome.isStarted) metrics.notStarted(work.step.type, outcome.reason);
      return outcome;
    },
    stop: (pod, step, view, signal) => measure('stop', signal, () => executor.stop(pod, step, view, signal)),
    removeContainer: (pod, step, view, signal) =>
      measure('removeContainer', signal, () => executor.removeContainer(pod, step, view, signal)),
    resize: (pod, step) => measure('resize', undefined, () => executor.resize(pod, step)),
    release: (pod) => measure('release', undefined, () => executor.release(pod)),
    forget: (pod) => executor.forget(pod),
    loggedAttempts: (pod) => executor.loggedAttempts(pod),
    messageOf: (pod, container) => executor.messageOf(pod, container),
  };
}
