import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { AgentOptions, ControlPlane, RunningAgent } from '../agent/index.ts';
import type { AskedGates } from '../api/index.ts';
import { apiServerGates } from '../api/index.ts';
import { ExitError, exitCodes, systemClock } from '../base/index.ts';
import type { CommandContext, LogFlags } from './context.ts';
import { commandLogger } from './context.ts';
import type { ControlPlaneFlags } from './flags.ts';
import {
  controlPlaneOptions,
  featureGatesOption,
  filePath,
  ipAddress,
  logOptions,
  port,
  rootDirOption,
  trueOrFalse,
  unixSocket,
} from './flags.ts';

interface AgentFlags extends ControlPlaneFlags, LogFlags {
  config?: string;
  configDir?: string;
  rootDir: string;
  certDir?: string;
  lockFile: string;
  exitOnLockContention?: boolean;
  kubeconfig?: string;
  embeddedControlPlane?: boolean;
  hostnameOverride?: string;
  containerRuntimeEndpoint?: string;
  address?: string;
  port?: number;
  featureGates?: Record<string, boolean>;
}

/** `nodeward agent` */
export function agentCommand(context: CommandContext): Command {
  const command = new Command('agent').description(
    'Run the node agent; without a kubeconfig also a control plane, in a child process.',
  );
  const options = [
    new Option('--config <file>', 'configuration file (KubeletConfiguration, YAML)').argParser(filePath),
    new Option(
      '--config-dir <dir>',
      'folder of *.conf files that are merged over the configuration file',
    ).argParser(filePath),
    rootDirOption(),
    new Option('--cert-dir <dir>', 'folder for keys and certificates (default: ROOT-DIR/pki)').argParser(
      filePath,
    ),
    new Option('--lock-file <file>', 'lock that keeps a second agent from running')
      .default('/var/run/nodeward.lock')
      .argParser(filePath),
    new Option('--exit-on-lock-contention', 'leave when another process wants the lock'),
    new Option('--kubeconfig <file>', 'use the control plane that this kubeconfig names').argParser(filePath),
    new Option(
      '--embedded-control-plane <true|false>',
      'run a control plane (default: true without a kubeconfig); false without a kubeconfig: no API at all',
    ).argParser(trueOrFalse),
    new Option('--hostname-override <name>', 'name of the node (default: the host name)'),
    new Option(
      '--container-runtime-endpoint <unix:///path>',
      'socket of the container runtime (default: the first that exists of the usual ones)',
    ).argParser(unixSocket),
    new Option('--address <ip>', 'address that the agent listens on (default: 0.0.0.0)').argParser(ipAddress),
    new Option('--port <port>', 'port that the agent listens on (default: 10250)').argParser(port),
    featureGatesOption(),
  ];
  for (const option of [...options, ...controlPlaneOptions(), ...logOptions()]) command.addOption(option);
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
    config: flags.config,
    configDir: flags.configDir,
    flags: {
      address: flags.address,
      port: flags.port,
      containerRuntimeEndpoint: flags.containerRuntimeEndpoint,
      featureGates: flags.featureGates,
    },
    rootDir,
    certDir: flags.certDir === undefined ? join(rootDir, 'pki') : resolve(flags.certDir),
    lockFile: resolve(flags.lockFile),
    exitOnLockContention: flags.exitOnLockContention ?? false,
    hostnameOverride: flags.hostnameOverride,
    groupSuffix: flags.groupSuffix,
    controlPlane: controlPlaneOf(flags, rootDir, context),
    env: context.env,
    pid: process.pid,
    clock: systemClock,
    log: commandLogger(context, flags),
  };
}

function controlPlaneOf(flags: AgentFlags, rootDir: string, context: CommandContext): ControlPlane {
  const { kubeconfig, embeddedControlPlane } = flags;
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
    `--event-ttl=${flags.eventTtl}ms`,
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
  const remote = flags.kubeconfig === undefined ? undefined : resolve(flags.kubeconfig);
  const forKubectl = api?.kubeconfig ?? remote;
  const credentials =
    remote === undefined ? `--root-dir ${quoted(resolve(flags.rootDir))}` : `--kubeconfig ${quoted(remote)}`;
  const tries = [
    forKubectl
      ? `kubectl --kubeconfig ${quoted(forKubectl)} get nodes -o wide`
      : `${command} checkpoint --help`,
    `${command} checkpoint ${credentials} NAMESPACE/POD/CONTAINER`,
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
