import { describeError, systemClock } from '../../../base/index.ts';
import type { Delay } from '../../shutdown/index.ts';
import { BusConnection, findBusPath, inhibitorName, logindOn } from '../../shutdown/index.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { notApplicable, ok, unknown, warning } from '../types.ts';

/** What logind says of delays. */
export interface DelayReport {
  /** At most. */
  readonly maxDelayMs: number;
  readonly delays: readonly Delay[];
}

export interface ShutdownCheckOptions {
  /** How long a shutdown is to wait for pods; undefined: the configuration cannot be read. */
  readonly seconds: number | undefined;
  /** Rejects where logind cannot be asked. */
  ask(host: Host, signal: AbortSignal): Promise<DelayReport>;
  /** The process of the agent that runs. */
  agent(host: Host, signal: AbortSignal): Promise<number | undefined>;
}

/** Whether a shutdown of the machine waits for the pods as it is configured. */
export function createShutdownCheck(options: ShutdownCheckOptions): Check {
  return {
    id: 'shutdown-delay',
    topic: 'pods',
    title: 'delay of a shutdown',
    needed: 'logind waits for the agent as long as is configured, where a time is',
    run: (host, signal) => judge(options, host, signal),
  };
}

async function judge(
  { seconds, ask, agent }: ShutdownCheckOptions,
  host: Host,
  signal: AbortSignal,
): Promise<Finding> {
  if (seconds === undefined) return unknown('the configuration cannot be read');
  if (seconds === 0)
    return notApplicable('no shutdownGracePeriod is configured: a shutdown does not wait for pods');
  try {
    const { maxDelayMs, delays } = await ask(host, signal);
    const isRunning = (await agent(host, signal)) !== undefined;
    const isHeld = delays.some(({ who }) => who === inhibitorName);
    const at = `logind waits for ${maxDelayMs / 1000} s at most`;
    if (!isRunning) return ok(`${at}; the agent does not run`);
    if (!isHeld)
      return warning(
        'the running agent does not delay it',
        'its log tells why: journalctl -u nodeward -p warning',
      );
    if (maxDelayMs < seconds * 1000)
      return warning(
        `${at}, pods may take ${seconds} s`,
        `set InhibitDelayMaxSec=${seconds} in /etc/systemd/logind.conf.d, then: systemctl kill --signal=HUP systemd-logind`,
      );
    return ok(`${at}, and the agent delays it`);
  } catch (error) {
    signal.throwIfAborted();
    const advice = 'install dbus and start systemd-logind, or set shutdownGracePeriod: 0s';
    return warning(`logind cannot be asked: ${describeError(error)}`, advice);
  }
}

export async function askLogind(host: Host, signal: AbortSignal): Promise<DelayReport> {
  const { user, env } = host;
  const options = { path: findBusPath(env), user, clock: systemClock, onSignal: () => undefined };
  using connection = await BusConnection.open(options, signal);
  const logind = logindOn(connection, signal);
  const { maxDelayMs } = await logind.read();
  return { maxDelayMs, delays: await logind.delays() };
}
