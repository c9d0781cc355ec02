import type { Service } from '../../base/index.ts';
import { describeError, ExitError, exitCodes, untilAborted } from '../../base/index.ts';
import type { EffectiveConfig } from '../config/index.ts';
import type { Lock } from '../lock/index.ts';
import { acquireAgentLock, RuntimeLock } from '../lock/index.ts';
import { defaultEndpoints, findExistingEndpoint, parseEndpoint } from '../runtime/index.ts';
import type { AgentOptions } from './options.ts';

/** Undefined where the agent was stopped while it waited, which is no failure. */
export async function acquireLockUnlessStopped(
  options: AgentOptions,
  signal: AbortSignal,
): Promise<Lock | undefined> {
  try {
    return await acquireAgentLock({
      lockFile: options.lockFile,
      rootDir: options.rootDir,
      clock: options.clock,
      log: options.log.child({ part: 'lock' }),
      exitOnContention: options.exitOnLockContention,
      signal,
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Claims the runtime that is there; one that comes later is claimed then. Undefined as above. */
export async function claimRuntimeUnlessStopped(
  { rootDir, clock, log }: AgentOptions,
  { containerRuntimeEndpoint }: Pick<EffectiveConfig, 'containerRuntimeEndpoint'>,
  signal: AbortSignal,
): Promise<RuntimeLock | undefined> {
  const lock = new RuntimeLock({ rootDir, clock, log: log.child({ part: 'lock' }), signal });
  try {
    const endpoint = containerRuntimeEndpoint || (await findExistingEndpoint(defaultEndpoints));
    if (endpoint !== undefined) await lock.claim(parseSocket(endpoint));
    return lock;
  } catch (error) {
    await lock.close();
    if (signal.aborted) return undefined;
    throw error;
  }
}

function parseSocket(endpoint: string): string {
  try {
    return parseEndpoint(endpoint);
  } catch (error) {
    throw new ExitError(exitCodes.configuration, describeError(error), { cause: error });
  }
}

/** Shuts the agent down cleanly when a lock is lost: another agent may already be running. */
export function lockService(lost: readonly AbortSignal[]): Service {
  return {
    name: 'lock',
    dependsOn: [],
    onFailure: 'stop',
    async run(signal, ready) {
      ready();
      await untilAborted(AbortSignal.any([signal, ...lost]));
      for (const each of lost) if (each.aborted) throw each.reason;
    },
  };
}
