import type { Clock, Logger } from '../../base/index.ts';
import { createBackoff } from '../../base/index.ts';
import type { Connection } from './connection.ts';
import { RuntimeError } from './errors.ts';
import type { RuntimeCondition, StatusResponse } from './gen/cri_pb.js';
import { RuntimeService } from './gen/cri_pb.js';
import type { RuntimeStatus } from './types.ts';

export interface StatusOptions {
  connection: Connection;
  log: Logger;
  clock: Clock;
  /** Between two queries of a runtime that answers. */
  intervalMs: number;
  /** A runtime that takes longer to answer counts as not ready. */
  timeoutMs: number;
}

/** Keeps the runtime's status up to date, in the background, from its creation until it is disposed of. */
export interface StatusWatch extends AsyncDisposable {
  current(): RuntimeStatus;
  refresh(): Promise<RuntimeStatus>;
  onChange(listener: (status: RuntimeStatus) => void): Disposable;
}

export function watchStatus(options: StatusOptions): StatusWatch {
  const { connection, log, clock, intervalMs, timeoutMs } = options;
  const listeners = new Set<(status: RuntimeStatus) => void>();
  const stop = new AbortController();
  let status = starting;
  let asking: Promise<RuntimeStatus> | undefined;

  function publish(next: RuntimeStatus): void {
    if (isSameStatus(status, next)) return;
    status = next;
    logStatus(log, next);
    for (const listener of [...listeners]) listener(next);
  }

  /** Concurrent callers share one query. */
  function refresh(): Promise<RuntimeStatus> {
    asking ??= askRuntime(connection, timeoutMs, status, stop.signal)
      .then((next) => {
        if (!stop.signal.aborted) publish(next);
        return status;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  }

  async function keepFresh(): Promise<void> {
    const backoff = createBackoff({ initialMs: Math.min(250, intervalMs), maxMs: intervalMs, jitter: 0.2 });
    while (!stop.signal.aborted) {
      const { ready } = await refresh();
      if (ready) backoff.reset();
      await clock.sleep(ready ? intervalMs : backoff.next(), stop.signal);
    }
  }
  const running = keepFresh();

  return {
    current: () => status,
    refresh,
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      listeners.clear();
      await running;
    },
  };
}

const starting: RuntimeStatus = {
  ready: false,
  networkReady: false,
  reason: 'RuntimeStarting',
  message: 'the container runtime has not been asked yet',
  version: '',
  name: '',
  endpoint: '',
};

async function askRuntime(
  connection: Connection,
  deadlineMs: number,
  known: RuntimeStatus,
  cancel: AbortSignal,
): Promise<RuntimeStatus> {
  const { version, status } = RuntimeService.method;
  try {
    const [about, state] = await Promise.all([
      connection.call(version, {}, { deadlineMs, cancel }),
      connection.call(status, {}, { deadlineMs, cancel }),
    ]);
    return {
      ...fromConditions(state.status?.conditions ?? []),
      ...toFeatures(state),
      version: about.runtimeVersion.split('+', 1)[0] ?? '',
      name: about.runtimeName,
      endpoint: connection.endpoint ?? '',
    };
  } catch (error) {
    return { ...known, ...fromFailure(error), endpoint: connection.endpoint ?? '' };
  }
}

/** Members that the runtime does not report are left out. */
function toFeatures({ runtimeHandlers, features }: StatusResponse): Features {
  const handlers = runtimeHandlers.map((handler) => ({
    name: handler.name,
    recursiveReadOnlyMounts: handler.features?.recursiveReadOnlyMounts ?? false,
    userNamespaces: handler.features?.userNamespaces ?? false,
  }));
  return {
    ...(handlers.length === 0 ? {} : { handlers }),
    ...(features === undefined ? {} : { supplementalGroupsPolicy: features.supplementalGroupsPolicy }),
  };
}

type Features = Pick<RuntimeStatus, 'handlers' | 'supplementalGroupsPolicy'>;
type Readiness = Pick<RuntimeStatus, 'ready' | 'networkReady' | 'reason' | 'message'>;

/** A condition that the runtime does not report is not true. */
export function fromConditions(conditions: readonly RuntimeCondition[]): Readiness {
  const of = (type: string) => conditions.find((condition) => condition.type === type);
  const [runtime, network] = [of('RuntimeReady'), of('NetworkReady')];
  const ready = runtime?.status ?? false;
  const networkReady = network?.status ?? false;
  const bad = [
    ...(ready ? [] : [runtime ?? createUnknownCondition('RuntimeReady')]),
    ...(networkReady ? [] : [network ?? createUnknownCondition('NetworkReady')]),
  ];
  return {
    ready,
    networkReady,
    reason: bad[0] ? bad[0].reason || `${bad[0].type}False` : '',
    message: bad.map(({ type, message }) => `${type}: ${message || 'false'}`).join('; '),
  };
}

function createUnknownCondition(type: string) {
  return { type, reason: `${type}Unknown`, message: 'the runtime does not say' };
}

function fromFailure(error: unknown): Readiness {
  const message = error instanceof Error ? error.message : String(error);
  return { ready: false, networkReady: false, reason: toReason(error), message };
}

function toReason(error: unknown): string {
  if (!(error instanceof RuntimeError)) return 'RuntimeFailed';
  if (error.reason === 'unavailable') return 'RuntimeUnavailable';
  return error.reason === 'timeout' ? 'RuntimeTimeout' : 'RuntimeFailed';
}

function isSameStatus(a: RuntimeStatus, b: RuntimeStatus): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function logStatus(
  log: Logger,
  { handlers: _, supplementalGroupsPolicy: __, ...status }: RuntimeStatus,
): void {
  if (status.ready) log.info(status, 'container runtime is ready');
  else log.warn(status, 'container runtime is not ready');
}
