import { join } from 'node:path';
import type { CommandResult } from '../../support/index.ts';
import { childrenOf, listProcesses, runCommand } from '../../support/index.ts';
import { repository } from '../lab/index.ts';

/** The runtime and the built program, as `scripts/up` starts them. */
export const program = [
  join(repository, 'node_modules/.bin/node'),
  join(repository, 'dist/main.js'),
] as const;

/** Runs a command of the program to its end, whatever its exit code; killed after 60 s unless told otherwise. */
export function nodeward(argv: readonly string[], timeoutMs = 60_000): Promise<CommandResult> {
  const [node, script] = program;
  return runCommand(node, [script, ...argv], { timeoutMs });
}

/** The pid of the control plane that the agent with that pid runs; undefined while there is none. */
export async function controlPlaneOf(agent: number): Promise<number | undefined> {
  const children = await childrenOf(agent);
  return children.find(({ argv }) => argv.includes('apiserver'))?.pid;
}

/** Pids of the processes that were started with `word` somewhere in their arguments. */
export async function processesNaming(word: string): Promise<number[]> {
  const processes = await listProcesses();
  return processes.filter(({ argv }) => argv.some((each) => each.includes(word))).map(({ pid }) => pid);
}
