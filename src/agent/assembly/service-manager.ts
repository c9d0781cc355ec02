import type { Clock, Service } from '../../base/index.ts';
import { createNotifier, watchdogIntervalMs } from '../../base/index.ts';
import type { Runtime, RuntimeStatus } from '../runtime/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** What systemd is told of the agent (sd_notify(3)). */
export interface ServiceManager {
  ready(): void;
  stopping(): void;
  /** Says that the configuration is loaded anew, until disposed of; nothing before ready() and after stopping(). */
  reloading(): Disposable;
  /** Says that the agent lives, and how the node is; nothing to do where nobody listens. */
  readonly services: readonly Service[];
}

export function serviceManager(context: AgentContext, runtime: Runtime): ServiceManager {
  const { env, pid, clock } = context.options;
  const notifier = createNotifier(env, pid, part(context, 'systemd').log);
  const status = () => `STATUS=${stateOf(context.nodeName, runtime.status())}`;
  let told = '';
  let stopped = false;
  let reloads = 0;
  const tell = (...assignments: readonly string[]) => {
    const now = status();
    if (now === told && assignments.length === 0) return;
    told = now;
    void notifier.send(...assignments, now);
  };
  const intervalMs = watchdogIntervalMs(env, pid);
  const alive: Service = {
    name: 'service-manager',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      using _follow = runtime.onStatusChange(() => told !== '' && tell());
      ready();
      await keepAlive(() => notifier.send('WATCHDOG=1'), intervalMs, clock, signal);
    },
  };
  return {
    ready: () => tell('READY=1'),
    stopping() {
      stopped = true;
      void notifier.send('STOPPING=1', 'STATUS=stopping');
    },
    reloading() {
      const listens = told !== '';
      reloads += 1;
      if (listens && !stopped && reloads === 1)
        void notifier.send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
      return {
        [Symbol.dispose]() {
          reloads -= 1;
          if (listens && !stopped && reloads === 0) tell('READY=1');
        },
      };
    },
    services: notifier.enabled ? [alive] : [],
  };
}

/** From the main event loop, so that a loop that hangs is noticed. */
async function keepAlive(
  say: () => Promise<void>,
  intervalMs: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (intervalMs !== undefined) await say();
    await clock.sleep(intervalMs ?? 3600_000, signal);
  }
}

/** One line for `systemctl status`. */
export function stateOf(nodeName: string, runtime: RuntimeStatus): string {
  return `node ${nodeName}: ${describeRuntime(runtime)}`;
}

/** The runtime's state in words: `containerd 2.1.9, ready`. */
export function describeRuntime(runtime: RuntimeStatus): string {
  const named = runtime.name === '' ? 'container runtime' : `${runtime.name} ${runtime.version}`;
  if (runtime.ready && runtime.networkReady) return `${named}, ready`;
  return `${named}, not ready: ${runtime.message || runtime.reason}`;
}
