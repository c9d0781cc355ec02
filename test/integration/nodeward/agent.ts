import { join } from 'node:path';
import type { CommandResult, Exit, SupervisedProcess } from '../../support/index.ts';
import { runCommand, sendSignal, startProcess } from '../../support/index.ts';
import type { LabNamespace } from '../lab/index.ts';
import { insideEnvironment, repository } from '../lab/index.ts';

export interface AgentStart {
  /** Kept from one start to the next. */
  rootDir: string;
  /** Further arguments; they win over ports that the system chooses. */
  args?: readonly string[];
  /** Default this repository. */
  checkout?: string;
  /** Runs as this user and group, without capabilities; default as the test. */
  uid?: number;
  /** A network namespace to run in; default the test's own. */
  network?: string;
  /** Runs inside of it; `network` says nothing then. */
  namespace?: LabNamespace;
  env?: NodeJS.ProcessEnv;
}

/** Of a configuration: only what the test does makes the node short of anything, not how full this machine's disk is. */
export const noPressure = 'evictionHard: {memory.available: 1Mi}';

/** What the agent prints once it is ready. */
export interface Summary {
  node: string;
  agent: string;
  runtime: string;
  /** Absent with a control plane elsewhere or none. */
  API?: string;
  kubeconfig?: string;
  /** The commands to try. */
  tries: string[];
}

/** An agent with what it runs, in a process group of its own as under a terminal. Disposal ends it. */
export interface RunningAgent extends AsyncDisposable {
  readonly pid: number;
  readonly process: SupervisedProcess;
  readonly summary: Summary;
  /** How long it took until it said that it is ready. */
  readonly readyMs: number;
  /** What Ctrl-C does: SIGINT to the whole group. Answers how it ended and how long that took. */
  interrupt(): Promise<Exit & { tookMs: number }>;
}

/** Starts `scripts/up` and resolves when it has printed its summary. */
export async function startAgent(options: AgentStart): Promise<RunningAgent> {
  const startedMs = performance.now();
  return await untilReady(await launchAgent(options), startedMs);
}

/** Resolves when an agent that was launched has printed its summary; one that does not is stopped. */
export async function untilReady(
  child: SupervisedProcess,
  startedMs = performance.now(),
): Promise<RunningAgent> {
  try {
    await child.waitForOutput(/^nodeward is ready\n(?: .*\n)*? {2}try .*\n .*\n/m, { timeoutMs: 90_000 });
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    pid: child.pid,
    process: child,
    summary: parseSummary(child.stdout),
    readyMs: performance.now() - startedMs,
    interrupt: () => interrupt(child),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** Starts `scripts/up` and does not wait for anything. */
export function launchAgent(options: AgentStart): Promise<SupervisedProcess> {
  const [command, ...argv] = commandLine(options);
  return startProcess(command, argv, environment(options));
}

/** Runs `scripts/up` that is expected to end by itself; killed after 30 s. */
export function runAgentToItsEnd(options: AgentStart): Promise<CommandResult> {
  const [command, ...argv] = commandLine(options);
  return runCommand(command, argv, environment(options));
}

/** SIGINT to the process group of a process that was started by this module. */
export async function interrupt(child: SupervisedProcess): Promise<Exit & { tookMs: number }> {
  const startedMs = performance.now();
  sendSignal(-child.pid, 'SIGINT');
  const exit = await child.exited;
  return { ...exit, tookMs: performance.now() - startedMs };
}

function commandLine({
  rootDir,
  args = [],
  checkout = repository,
  uid,
  network,
  namespace,
}: AgentStart): [string, ...string[]] {
  const up = [
    join(checkout, 'scripts/up'),
    '--root-dir',
    rootDir,
    '--port',
    '0',
    '--secure-port',
    '0',
    ...args,
  ];
  const user =
    uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];
  const agent: [string, ...string[]] = ['setsid', ...user, ...up]; // setsid keeps the pid, which becomes the group's
  if (namespace !== undefined) return namespace.inside(...split(agent));
  return network === undefined ? agent : ['nsenter', `--net=/run/netns/${network}`, '--', ...agent];
}

function split([command, ...argv]: readonly [string, ...string[]]): [string, string[]] {
  return [command, argv];
}

function environment({ env, namespace }: AgentStart): { env?: NodeJS.ProcessEnv } {
  if (namespace !== undefined) return { env: insideEnvironment({ ...process.env, ...env }) };
  return env === undefined ? {} : { env: { ...process.env, ...env } };
}

function parseSummary(output: string): Summary {
  const rows = output.split('\n').filter((line) => line.startsWith('  '));
  const value = (name: string): string | undefined =>
    rows
      .find((row) => row.trim().split(/\s+/)[0] === name)
      ?.trim()
      .replace(/^\S+\s+/, '');
  const must = (name: string): string => {
    const found = value(name);
    if (found === undefined) throw new Error(`the summary does not tell ${name}:\n${output}`);
    return found;
  };
  const [API, kubeconfig] = [value('API'), value('kubeconfig')];
  return {
    node: must('node'),
    agent: must('agent'),
    runtime: must('runtime'),
    tries: [must('try'), rows.at(-1)?.trim() ?? ''],
    ...(API === undefined ? {} : { API }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  };
}
