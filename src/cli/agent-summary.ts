import { existsSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import type { RunningAgent } from '../agent/index.ts';
import { findPlace } from './agent-client/place.ts';
import type { ConfigFlags } from './flags/config-flags.ts';
import { joinedKubeconfigPath } from './flags/config-flags.ts';
import type { CommandContext } from './terminal/context.ts';
import { quoteForShell } from './terminal/text.ts';

type SummaryFlags = Pick<ConfigFlags, 'kubeconfig' | 'bootstrapKubeconfig'> & { rootDir: string };

/** Printed once the agent is ready: where everything is, and commands to try. */
export function formatSummary(
  agent: RunningAgent,
  runtime: string,
  flags: HintFlags,
  context: Pick<CommandContext, 'env' | 'script'>,
): string {
  const { api, agentKubeconfig, url, nodeName } = agent;
  const [tryFirst, trySecond] = exampleCommands(agent, flags, context);
  const lacksKubectl = agentKubeconfig === undefined && !isInPath('kubectl', context.env);
  const lines: (readonly [string, string | undefined])[] = [
    ['node', nodeName],
    ['API', api?.url],
    ['kubeconfig', api?.kubeconfig ?? agentKubeconfig],
    ['agent', url],
    ['runtime', runtime],
    ['kubectl', lacksKubectl ? describeMissingKubectl(flags.program) : undefined],
    ['try', tryFirst],
    ['', trySecond],
  ];
  const text = lines.map(([name, value]) => (value === undefined ? '' : `  ${name.padEnd(10)}  ${value}\n`));
  return `nodeward is ready\n${text.join('')}`;
}

type HintFlags = SummaryFlags & {
  /** The command as the user can run it. */
  program: string;
};

function describeMissingKubectl(program: string): string {
  return `is not installed: apt-get install kubernetes-client (Debian); ${program} --help lists what works without it`;
}

function isInPath(program: string, env: NodeJS.ProcessEnv): boolean {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => existsSync(join(folder, program)));
}

/** A runtime that is not ready has a reason longer than a line, which the log tells: the summary says who else does. */
export function withReasonElsewhere(
  runtime: RunningAgent['runtime'],
  program: string,
): RunningAgent['runtime'] {
  return { ...runtime, message: `${program} doctor tells why` };
}

/** The same for a log: one line, without the commands to try. */
export function formatSummaryLine({ api, url, nodeName }: RunningAgent, runtime: string): string {
  const control = api === undefined ? '' : `, API ${api.url}`;
  return `nodeward is ready: node ${nodeName}${control}, agent ${url}, ${runtime}\n`;
}

/** Printed when the agent has ended in order. The path is relative where it is below the working directory. */
export function formatStopped(rootDir: string): string {
  const shorter = relative(process.cwd(), rootDir);
  const path = shorter === '' || shorter.startsWith('..') ? rootDir : shorter;
  return `stopped; state in ${path}\n`;
}

function exampleCommands(
  { api, nodeName }: RunningAgent,
  flags: HintFlags,
  context: Pick<CommandContext, 'env' | 'script'>,
): string[] {
  const { program } = flags;
  const remote = remoteKubeconfig(flags);
  const forKubectl = api?.kubeconfig ?? remote;
  const hasJoined = flags.bootstrapKubeconfig !== undefined; // such a node may read no other node
  const objects = hasJoined ? `node ${nodeName}` : 'nodes';
  const kubectl = forKubectl && `kubectl --kubeconfig ${quoteForShell(forKubectl)} get ${objects} -o wide`;
  const isFound = findPlace({}, context).path === resolve(flags.rootDir);
  const rootDir = isFound ? '' : ` --root-dir ${quoteForShell(resolve(flags.rootDir))}`;
  const credentials = remote === undefined ? rootDir : ` --kubeconfig ${quoteForShell(remote)}`;
  return [
    kubectl ?? `${program} checkpoint --help`,
    ...(hasJoined ? [] : [`${program} checkpoint${credentials} NAMESPACE/POD/CONTAINER`]),
  ];
}

function remoteKubeconfig({ kubeconfig, bootstrapKubeconfig, rootDir }: SummaryFlags): string | undefined {
  if (bootstrapKubeconfig !== undefined) return joinedKubeconfigPath(rootDir);
  return kubeconfig === undefined ? undefined : resolve(kubeconfig);
}
