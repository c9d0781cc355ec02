import type { Clock, Service } from '../../base/index.ts';
import { createNotifier, watchdogIntervalMs } from '../../base/index.ts';
import type { Runtime, RuntimeStatus } from '../runtime/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** Notifies systemd of the agent's state (sd_notify(3)). */
export interface ServiceManager {
  ready(): void;
  /** Announces, before ready(), what is waited for; has systemd wait for another minute. */
  waiting(what: string): void;
  stopping(): void;
  /** Announces that the configuration is loaded again, until disposed of; not before ready() nor after stopping(). */
  reloading(): Disposable;
  /** Sends the watchdog's keep-alive and the node's state; empty without a service manager. */
  readonly services: readonly Service[];
}

/** For how long a start may go on after each notification that it waits, and how often one is sent. */
const extendMs = 60_000;
const extendEveryMs = 15_000;

export function serviceManager(context: AgentContext, runtime: Runtime): ServiceManager {
  const { env, pid, clock } = context.options;
  const notifier = createNotifier(env, pid, part(context, 'systemd').log);
  const status = () => `STATUS=${formatState(context.nodeName, runtime.status())}`;
  let lastStatus = '';
  let waiting: { what: string; sentMs: number } | undefined;
  let stopped = false;
  let reloads = 0;
  const notify = (...assignments: readonly string[]) => {
    const now = status();
    if (now === lastStatus && assignments.length === 0) return;
    lastStatus = now;
    void notifier.send(...assignments, now);
  };
  const intervalMs = watchdogIntervalMs(env, pid);
  const alive: Service = {
    name: 'service-manager',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      using _follow = runtime.onStatusChange(() => lastStatus !== '' && notify());
      ready();
      await keepAlive(() => notifier.send('WATCHDOG=1'), intervalMs, clock, signal);
    },
  };
  return {
    ready: () => notify('READY=1'),
    waiting(what) {
      const nowMs = clock.monotonicMs();
      if (waiting?.what === what && nowMs - waiting.sentMs < extendEveryMs) return;
      waiting = { what, sentMs: nowMs };
      void notifier.send(`STATUS=not ready: ${what}`, `EXTEND_TIMEOUT_USEC=${extendMs * 1000}`);
    },
    stopping() {
      stopped = true;
      void notifier.send('STOPPING=1', 'STATUS=stopping');
    },
    reloading() {
      const isReady = lastStatus !== '';
      reloads += 1;
      if (isReady && !stopped && reloads === 1)
        void notifier.send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
      return {
        [Symbol.dispose]() {
          reloads -= 1;
          if (isReady && !stopped && reloads === 0) notify('READY=1');
        },
      };
    },
    services: notifier.enabled ? [alive] : [],
  };
}

/** Runs in the main event loop, so that systemd detects a loop that hangs. */
async function keepAlive(
  sendKeepAlive: () => Promise<void>,
  intervalMs: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (intervalMs !== undefined) await sendKeepAlive();
    await clock.sleep(intervalMs ?? 3600_000, signal);
  }
}

/** One line for `systemctl status`. */
export function formatState(nodeName: string, runtime: RuntimeStatus): string {
  return `node ${nodeName}: ${describeRuntime(runtime)}`;
}

/** The runtime's state for people: `containerd 2.1.9, ready`. */
export function describeRuntime(runtime: RuntimeStatus): string {
  const named = runtime.name === '' ? 'container runtime' : `${runtime.name} ${runtime.version}`;
  if (runtime.ready && runtime.networkReady) return `${named}, ready`;
  return `${named}, not ready: ${runtime.message || runtime.reason}`;
}
