import { join } from 'node:path';
import { runtimeLockName } from '../../lock/index.ts';
import { formatCount, formatList } from '../format.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { failed, ok, unknown, warning } from '../types.ts';
import { inspectLock } from './lock.ts';

export interface RuntimeAgentOptions {
  /** Of the agent that is examined. */
  readonly rootDir: string;
  readonly agentMark: string;
  /** The folder of the runtime's lock; undefined where there is no runtime. */
  place(): Promise<string | undefined>;
  /** How many sandboxes each agent has made; undefined where the runtime cannot be asked. */
  sandboxes(): Promise<ReadonlyMap<string, number> | undefined>;
}

export function createRuntimeAgentCheck(options: RuntimeAgentOptions): Check {
  return {
    id: 'runtime-agent',
    topic: 'runtime',
    title: 'agents on the runtime',
    needed: 'this one alone',
    run: (host, signal) => judgeAgents(options, host, signal),
  };
}

async function judgeAgents(
  { rootDir, agentMark, place, sandboxes }: RuntimeAgentOptions,
  host: Host,
  signal: AbortSignal,
): Promise<Finding> {
  const folder = await place();
  if (folder === undefined) return unknown('no runtime was found');
  const lock = await inspectLock(join(folder, runtimeLockName), host, signal);
  if (lock.agent !== undefined && lock.rootDir !== undefined && lock.rootDir !== rootDir)
    return failed(
      `used by another agent: process ${lock.agent} with the root folder ${lock.rootDir}`,
      `stop that one (kill ${lock.agent}), or give this agent a runtime of its own with --container-runtime-endpoint`,
    );
  const byAgent = await sandboxes();
  if (byAgent === undefined) return unknown('the runtime could not be asked');
  const others = [...byAgent].filter(([mark]) => mark !== agentMark);
  if (others.length === 0) return ok(lock.agent === undefined ? 'no other one' : `process ${lock.agent}`);
  const found = formatList(
    others.map(([mark, count]) => `${formatCount(count, 'pod')} of another agent (${mark})`),
    3,
  );
  return warning(
    found,
    'these are let be: end them by their own agent, or with "crictl rmp" where that one is gone for good',
  );
}
