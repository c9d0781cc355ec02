import type { Clock, MetricsRegistry } from '../../base/index.ts';
import { Counter, Histogram } from '../../base/index.ts';
import type { Connection } from './connection.ts';
import { RuntimeError } from './errors.ts';

/** What calls of the runtime are called in metrics, as in the reference: those by which pods run. Others are not counted. */
const operations: Readonly<Record<string, string>> = {
  RuntimeConfig: 'runtime_config',
  RunPodSandbox: 'run_podsandbox',
  StopPodSandbox: 'stop_podsandbox',
  RemovePodSandbox: 'remove_podsandbox',
  PodSandboxStatus: 'podsandbox_status',
  ListPodSandbox: 'list_podsandbox',
  CreateContainer: 'create_container',
  StartContainer: 'start_container',
  StopContainer: 'stop_container',
  RemoveContainer: 'remove_container',
  ListContainers: 'list_containers',
  ContainerStatus: 'container_status',
  UpdateContainerResources: 'update_container',
  ReopenContainerLog: 'reopen_container_log',
  ExecSync: 'exec_sync',
  PullImage: 'pull_image',
  ImageStatus: 'image_status',
  ListImages: 'list_images',
  RemoveImage: 'remove_image',
  ImageFsInfo: 'image_fs_info',
};

export interface CallMetrics {
  /** `error`: why the call failed, if it did. One that its caller gave up is no error. */
  called(method: string, seconds: number, error?: unknown): void;
}

/** From 5 ms to 745 s, as in the reference. */
const buckets = Array.from({ length: 14 }, (_, power) => Number((0.005 * 2.5 ** power).toPrecision(6)));

export function callMetrics(registry: MetricsRegistry): CallMetrics {
  const registers = [registry];
  const labelNames = ['operation_type'] as const;
  const calls = new Counter({
    name: 'kubelet_runtime_operations_total',
    help: 'Calls of the container runtime and its image service that have ended, by what they do.',
    ...{ labelNames, registers },
  });
  const failures = new Counter({
    name: 'kubelet_runtime_operations_errors_total',
    help: 'Those of them that failed, by what they do; a call that the agent gave up is not one.',
    ...{ labelNames, registers },
  });
  const durations = new Histogram({
    name: 'kubelet_runtime_operations_duration_seconds',
    help: 'How long calls of the container runtime take, by what they do.',
    ...{ labelNames, buckets, registers },
  });
  return {
    called(method, seconds, error) {
      const operation = Object.hasOwn(operations, method) ? operations[method] : undefined;
      if (operation === undefined) return;
      const labels = { operation_type: operation };
      calls.inc(labels);
      durations.observe(labels, seconds);
      const isGivenUp = error instanceof RuntimeError && error.reason === 'cancelled';
      if (error !== undefined && !isGivenUp) failures.inc(labels);
    },
  };
}

/** The same connection, with its calls counted; streams are not. Disposing of it closes the connection. */
export function measureCalls(
  connection: Connection,
  metrics: CallMetrics,
  clock: Pick<Clock, 'monotonicMs'>,
): Connection {
  return {
    get endpoint() {
      return connection.endpoint;
    },
    async call(method, request, options) {
      const startMs = clock.monotonicMs();
      const count = (error?: unknown) =>
        metrics.called(method.name, (clock.monotonicMs() - startMs) / 1000, error);
      try {
        const answer = await connection.call(method, request, options);
        count();
        return answer;
      } catch (error) {
        count(error);
        throw error;
      }
    },
    stream: (method, request, options) => connection.stream(method, request, options),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
}
