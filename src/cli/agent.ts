import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { AgentOptions, ControlPlane, RunningAgent } from '../agent/index.ts';
import type { AskedGates } from '../api/index.ts';
import { apiServerGates } from '../api/index.ts';
import { ExitError, exitCodes, systemClock } from '../base/index.ts';
import type { ConfigFlags } from './config-flags.ts';
import {
  configFieldOptions,
  configFileOptions,
  configSources,
  controlPlaneChoiceOptions,
  nodeLabelsOption,
} from './config-flags.ts';
import type { CommandContext, LogFlags } from './context.ts';
import { commandLogger } from './context.ts';
import type { ControlPlaneFlags } from './flags.ts';
import { controlPlaneOptions, filePath, logOptions, rootDirOption } from './flags.ts';
import type { NodeLifecycleFlags } from './node-lifecycle-flags.ts';
import { nodeLifecycleArgs, nodeLifecycleOptions } from './node-lifecycle-flags.ts';

interface AgentFlags extends ConfigFlags, ControlPlaneFlags, NodeLifecycleFlags, LogFlags {
  rootDir: string;
  certDir?: string;
  lockFile: string;
  exitOnLockContention?: boolean;
  hostnameOverride?: string;
  nodeLabels: Record<string, string>;
}

/** `nodeward agent` */
export function agentCommand(context: CommandContext): Command {
  const command = new Command('agent').description(
    'Run the node agent; without a kubeconfig also a control plane, in a child process.',
  );
  const options = [
    ...configFileOptions(),
    rootDirOption(),
    new Option('--cert-dir <dir>', 'folder for keys and certificates (default: ROOT-DIR/pki)').argParser(
      filePath,
    ),
    new Option('--lock-file <file>', 'lock that keeps a second agent from running')
      .default('/var/run/nodeward.lock')
      .argParser(filePath),
    new Option('--exit-on-lock-contention', 'leave when another process wants the lock'),
    ...controlPlaneChoiceOptions(),
    new Option('--hostname-override <name>', 'name of the node (default: the host name)'),
    nodeLabelsOption(),
    ...configFieldOptions(),
  ];
  for (const option of [...options, ...controlPlaneOptions(), ...nodeLifecycleOptions(), ...logOptions()])
    command.addOption(option);
  return command.action(async (flags: AgentFlags) => {
    const { describeRuntime, runAgent } = await import('../agent/index.ts'); // a control plane need not load an agent
    await runAgent(agentOptions(flags, context), context.signal, (agent) => {
      const command = context.env['NODEWARD_COMMAND'] ?? 'nodeward';
      context.stdout.write(summary(agent, describeRuntime(agent.runtime), flags, command));
    });
  });
}

function agentOptions(flags: AgentFlags, context: CommandContext): AgentOptions {
  const rootDir = resolve(flags.rootDir);
  return {
    ...configSources(flags),
    rootDir,
    certDir: flags.certDir === undefined ? join(rootDir, 'pki') : resolve(flags.certDir),
    lockFile: resolve(flags.lockFile),
    exitOnLockContention: flags.exitOnLockContention ?? false,
    hostnameOverride: flags.hostnameOverride,
    nodeLabels: flags.nodeLabels,
    onReloadAsked: (listener) => context.onHangup(listener),
    groupSuffix: flags.groupSuffix,
    controlPlane: controlPlaneOf(flags, rootDir, context),
    env: context.env,
    pid: process.pid,
    clock: systemClock,
    log: commandLogger(context, flags),
  };
}

function controlPlaneOf(flags: AgentFlags, rootDir: string, context: CommandContext): ControlPlane {
  const { kubeconfig, bootstrapKubeconfig, embeddedControlPlane } = flags;
  if (bootstrapKubeconfig !== undefined) {
    if (kubeconfig !== undefined || embeddedControlPlane !== undefined) {
      throw new ExitError(
        exitCodes.usage,
        '--bootstrap-kubeconfig goes with neither --kubeconfig nor --embedded-control-plane: it makes a kubeconfig of its own',
      );
    }
    return { mode: 'joining', kubeconfig: ownKubeconfig(rootDir), bootstrapKubeconfig };
  }
  if (kubeconfig !== undefined && embeddedControlPlane === true) {
    throw new ExitError(
      exitCodes.usage,
      '--kubeconfig and --embedded-control-plane=true exclude each other: the control plane is either remote or embedded',
    );
  }
  if (kubeconfig !== undefined) return { mode: 'remote', kubeconfig: resolve(kubeconfig) };
  if (embeddedControlPlane === false) return { mode: 'standalone' };
  return { mode: 'embedded', script: context.script, args: apiServerArgs(flags, rootDir) };
}

/** Where an agent that joins keeps what it has got. */
function ownKubeconfig(rootDir: string): string {
  return join(rootDir, 'node.kubeconfig');
}

function remoteKubeconfig({ kubeconfig, bootstrapKubeconfig, rootDir }: AgentFlags): string | undefined {
  if (bootstrapKubeconfig !== undefined) return ownKubeconfig(resolve(rootDir));
  return kubeconfig === undefined ? undefined : resolve(kubeconfig);
}

/** The flags of the child: those of ours that are for it. */
function apiServerArgs(flags: AgentFlags, rootDir: string): string[] {
  return [
    `--root-dir=${rootDir}`,
    `--group-suffix=${flags.groupSuffix}`,
    `--taint-domain=${flags.taintDomain}`,
    `--bind-address=${flags.bindAddress}`,
    `--secure-port=${flags.securePort}`,
    ...(flags.http2 ? ['--http2'] : []),
    `--storage=${flags.storage}`,
    `--history-window=${flags.historyWindow}ms`,
    `--history-bytes=${flags.historyBytes}`,
    `--max-requests-inflight=${flags.maxRequestsInflight}`,
    `--max-mutating-requests-inflight=${flags.maxMutatingRequestsInflight}`,
    `--event-ttl=${flags.eventTtl}ms`,
    ...nodeLifecycleArgs(flags),
    ...gatesArgs(apiServerGates(flags.featureGates ?? {})),
    ...(flags.logFormat === undefined ? [] : [`--log-format=${flags.logFormat}`]),
    ...(flags.verbose ? ['--verbose'] : []),
  ];
}

function gatesArgs(gates: AskedGates): string[] {
  const texts = Object.entries(gates).map(([name, on]) => `${name}=${on}`);
  return texts.length === 0 ? [] : [`--feature-gates=${texts.join(',')}`];
}

/** What a person wants to know once the agent runs: where everything is, and two commands to try. */
function summary(agent: RunningAgent, runtime: string, flags: AgentFlags, command: string): string {
  const { api, agentKubeconfig, url } = agent;
  const remote = remoteKubeconfig(flags);
  const forKubectl = api?.kubeconfig ?? remote;
  const credentials =
    remote === undefined ? `--root-dir ${quoted(resolve(flags.rootDir))}` : `--kubeconfig ${quoted(remote)}`;
  const isOwn = flags.bootstrapKubeconfig !== undefined; // a node sees itself and no other
  const seen = isOwn ? `node ${agent.nodeName}` : 'nodes';
  const tries = [
    forKubectl
      ? `kubectl --kubeconfig ${quoted(forKubectl)} get ${seen} -o wide`
      : `${command} checkpoint --help`,
    isOwn ? undefined : `${command} checkpoint ${credentials} NAMESPACE/POD/CONTAINER`,
  ];
  const lines: (readonly [string, string | undefined])[] = [
    ['node', agent.nodeName],
    ['API', api?.url],
    ['kubeconfig', api?.kubeconfig ?? agentKubeconfig],
    ['agent', url],
    ['runtime', runtime],
    ['try', tries[0]],
    ['', tries[1]],
  ];
  const shown = lines.flatMap(([name, value]) =>
    value === undefined ? [] : `  ${name.padEnd(10)}  ${value}\n`,
  );
  return `nodeward is ready\n${shown.join('')}`;
}

/** A word as a shell takes it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
