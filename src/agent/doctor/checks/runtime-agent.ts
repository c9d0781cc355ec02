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

/** Who holds the lock of a runtime; `other`: that it is an agent with another root folder, which runs. */
export async function inspectRuntimeLock(
  folder: string,
  rootDir: string,
  host: Host,
  signal: AbortSignal,
): Promise<{ agent: number | undefined; other: Finding | undefined }> {
  const { agent, rootDir: itsRootDir } = await inspectLock(join(folder, runtimeLockName), host, signal);
  const isOther = agent !== undefined && itsRootDir !== undefined && itsRootDir !== rootDir;
  if (!isOther) return { agent, other: undefined };
  const other = failed(
    `used by another agent: process ${agent} with the root folder ${itsRootDir}`,
    `stop that one (kill ${agent}), or give this agent a runtime of its own with --container-runtime-endpoint`,
  );
  return { agent, other };
}

async function judgeAgents(
  { rootDir, agentMark, place, sandboxes }: RuntimeAgentOptions,
  host: Host,
  signal: AbortSignal,
): Promise<Finding> {
  const folder = await place();
  if (folder === undefined) return unknown('no runtime was found');
  const lock = await inspectRuntimeLock(folder, rootDir, host, signal);
  if (lock.other !== undefined) return lock.other;
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
