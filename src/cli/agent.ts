import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { AgentOptions, ControlPlane, RunningAgent } from '../agent/index.ts';
import type { AskedGates } from '../api/index.ts';
import { apiServerGates } from '../api/index.ts';
import type { Logger } from '../base/index.ts';
import { ExitError, exitCodes, systemClock } from '../base/index.ts';
import type { CommandContext, LogFlags } from './context.ts';
import { commandLogger } from './context.ts';
import { auditOf } from './flags/audit-flags.ts';
import { authenticationOf } from './flags/authentication-flags.ts';
import { authorizationOf } from './flags/authorization-flags.ts';
import type { ConfigFlags } from './flags/config-flags.ts';
import {
  configFieldOptions,
  configFileOptions,
  configSources,
  controlPlaneChoiceOptions,
  nodeAddressOptions,
  nodeLabelsOption,
} from './flags/config-flags.ts';
import type { AllControlPlaneFlags } from './flags/control-plane-flags.ts';
import { allControlPlaneOptions } from './flags/control-plane-flags.ts';
import { filePath, logOptions, rootDirOption } from './flags/flags.ts';
import { nodeLifecycleOf } from './flags/node-lifecycle-flags.ts';
import { passedOnFlags } from './flags/passed-on-flags.ts';

interface AgentFlags extends ConfigFlags, AllControlPlaneFlags, LogFlags {
  rootDir: string;
  certDir?: string;
  lockFile: string;
  exitOnLockContention?: boolean;
  hostnameOverride?: string;
  nodeLabels: Record<string, string>;
  nodeIp?: string[];
  nodeExternalIp?: string[];
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
    ...nodeAddressOptions(),
    ...configFieldOptions(),
  ];
  const forControlPlane = passedOnFlags(allControlPlaneOptions());
  for (const option of forControlPlane.options) option.helpGroup('Of the control plane that it runs:');
  for (const option of [...options, ...logOptions(), ...forControlPlane.options]) command.addOption(option);
  return command.action(async (flags: AgentFlags) => {
    const { describeRuntime, runAgent } = await import('../agent/index.ts'); // a control plane need not load an agent
    const passedOn = forControlPlane.given(command);
    await runAgent(agentOptions(flags, passedOn, context), context.signal, (agent) => {
      const command = context.env['NODEWARD_COMMAND'] ?? 'nodeward';
      context.stdout.write(summary(agent, describeRuntime(agent.runtime), flags, command));
    });
  });
}

function agentOptions(flags: AgentFlags, passedOn: readonly string[], context: CommandContext): AgentOptions {
  checkControlPlaneFlags(flags);
  const rootDir = resolve(flags.rootDir);
  const controlPlane = controlPlaneOf(flags, passedOn, context);
  const log = commandLogger(context, flags);
  if (controlPlane.mode !== 'embedded') warnOfUnused(passedOn, log);
  return {
    ...configSources(flags),
    rootDir,
    certDir: flags.certDir === undefined ? join(rootDir, 'pki') : resolve(flags.certDir),
    lockFile: resolve(flags.lockFile),
    exitOnLockContention: flags.exitOnLockContention ?? false,
    hostnameOverride: flags.hostnameOverride,
    nodeLabels: flags.nodeLabels,
    nodeIps: flags.nodeIp,
    externalIps: flags.nodeExternalIp,
    onReloadAsked: (listener) => context.onHangup(listener),
    groupSuffix: flags.groupSuffix,
    controlPlane,
    env: context.env,
    pid: process.pid,
    clock: systemClock,
    log,
  };
}

/** Looked at before the agent starts a child with them. Throws an ExitError. */
function checkControlPlaneFlags(flags: AgentFlags): void {
  authenticationOf(flags);
  authorizationOf(flags);
  auditOf(flags);
  nodeLifecycleOf(flags);
}

/** The two that an agent heeds by itself. */
const agentsToo = ['--group-suffix', '--taint-domain'];

function warnOfUnused(passedOn: readonly string[], log: Logger): void {
  const names = new Set(passedOn.map((word) => word.split('=', 1)[0] ?? ''));
  const unused = [...names].filter((name) => !agentsToo.includes(name));
  if (unused.length === 0) return;
  log.warn(`${unused.join(', ')}: no effect, for the agent runs no control plane of its own`);
}

function controlPlaneOf(
  flags: AgentFlags,
  passedOn: readonly string[],
  context: CommandContext,
): ControlPlane {
  const rootDir = resolve(flags.rootDir);
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
  return { mode: 'embedded', script: context.script, args: apiServerArgs(flags, passedOn, rootDir) };
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
function apiServerArgs(flags: AgentFlags, passedOn: readonly string[], rootDir: string): string[] {
  return [
    `--root-dir=${rootDir}`,
    ...passedOn,
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
