import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { AgentOptions, ControlPlane } from '../agent/index.ts';
import type { AskedGates } from '../api/index.ts';
import { apiServerGates } from '../api/index.ts';
import type { Logger } from '../base/index.ts';
import { ExitError, exitCodes, systemClock } from '../base/index.ts';
import { formatStopped, formatSummary, formatSummaryLine, withReasonElsewhere } from './agent-summary.ts';
import { readAuditFlags } from './flags/audit-flags.ts';
import { readAuthenticationFlags } from './flags/authentication-flags.ts';
import { readAuthorizationFlags } from './flags/authorization-flags.ts';
import { logOptions, ownRootDirOption } from './flags/common-flags.ts';
import type { AgentPlaceFlags, ConfigFlags } from './flags/config-flags.ts';
import {
  agentPlaceOptions,
  configFieldOptions,
  configFileOptions,
  configSources,
  controlPlaneChoiceOptions,
  imageCredentialOptions,
  joinedKubeconfigPath,
  nodeAddressOptions,
  nodeLabelsOption,
  resolveAgentFolders,
} from './flags/config-flags.ts';
import type { ControlPlaneFlags } from './flags/control-plane-flags.ts';
import { controlPlaneOptions } from './flags/control-plane-flags.ts';
import { ForwardedOptions } from './flags/forwarded-flags.ts';
import { readNodeLifecycleFlags } from './flags/node-lifecycle-flags.ts';
import type { CommandContext, LogFlags } from './terminal/context.ts';
import { commandLogger, isJournal } from './terminal/context.ts';

interface AgentFlags extends ConfigFlags, AgentPlaceFlags, ControlPlaneFlags, LogFlags {
  exitOnLockContention?: boolean;
  nodeLabels: Record<string, string>;
  nodeIp?: string[];
  nodeExternalIp?: string[];
  imageCredentialProviderConfig?: string;
  imageCredentialProviderBinDir?: string;
}

/** `nodeward agent` */
export function agentCommand(context: CommandContext): Command {
  const command = new Command('agent').description(
    'Run the node agent; without a kubeconfig also a control plane, in a child process.',
  );
  const forwarded = new ForwardedOptions(controlPlaneOptions());
  for (const option of forwarded.options) option.helpGroup('Options of the control plane that it runs:');
  for (const option of [...ownOptions(), ...logOptions(), ...forwarded.options]) command.addOption(option);
  return command.action(async (flags: AgentFlags) => {
    const { describeRuntime, runAgent } = await import('../agent/index.ts'); // a control plane need not load an agent
    const options = toAgentOptions(flags, forwarded.args(command), context);
    const program = context.env['NODEWARD_COMMAND'] ?? 'nodeward';
    const isForPeople = !isJournal(context.stdout, context.env);
    await runAgent(options, context.signal, {
      waiting: (what) => void context.stdout.write(`nodeward is not ready yet: ${what}\n`),
      ready(agent) {
        const forPeople = () => describeRuntime(withReasonElsewhere(agent.runtime, program));
        context.stdout.write(
          isForPeople
            ? formatSummary(agent, forPeople(), { ...flags, program }, context)
            : formatSummaryLine(agent, describeRuntime(agent.runtime)),
        );
      },
    });
    context.stdout.write(formatStopped(flags.rootDir));
  });
}

const ownOptions = (): Option[] => [
  ...configFileOptions(),
  ownRootDirOption(),
  ...agentPlaceOptions(),
  new Option('--exit-on-lock-contention', 'exit when another process wants the lock'),
  ...controlPlaneChoiceOptions(),
  nodeLabelsOption(),
  ...nodeAddressOptions(),
  ...imageCredentialOptions(),
  ...configFieldOptions(),
];

function toAgentOptions(
  flags: AgentFlags,
  forwarded: readonly string[],
  context: CommandContext,
): AgentOptions {
  checkControlPlaneFlags(flags);
  const folders = resolveAgentFolders(flags);
  const controlPlane = selectControlPlane(flags, forwarded, context);
  const log = commandLogger(context, flags);
  if (controlPlane.mode !== 'embedded') warnOfUnused(forwarded, log);
  return {
    ...configSources(flags),
    ...folders,
    lockFile: resolve(flags.lockFile),
    exitOnLockContention: flags.exitOnLockContention ?? false,
    hostnameOverride: flags.hostnameOverride,
    nodeLabels: flags.nodeLabels,
    nodeIps: flags.nodeIp,
    externalIps: flags.nodeExternalIp,
    credentialProviders: toCredentialProviders(flags),
    onReloadAsked: (listener) => context.onHangup(listener),
    groupSuffix: flags.groupSuffix,
    controlPlane,
    env: context.env,
    pid: process.pid,
    command: process.argv,
    clock: systemClock,
    log,
  };
}

/** Throws an ExitError where only one of the two is given. */
function toCredentialProviders({
  imageCredentialProviderConfig: file,
  imageCredentialProviderBinDir: folder,
}: AgentFlags): AgentOptions['credentialProviders'] {
  if (file !== undefined && folder !== undefined) return { file: resolve(file), folder: resolve(folder) };
  if (file === undefined && folder === undefined) return undefined;
  const message =
    '--image-credential-provider-config and --image-credential-provider-bin-dir need each other';
  throw new ExitError(exitCodes.usage, message);
}

/** Fails before a child process is started with them. Throws an ExitError. */
function checkControlPlaneFlags(flags: AgentFlags): void {
  readAuthenticationFlags(flags);
  readAuthorizationFlags(flags);
  readAuditFlags(flags);
  readNodeLifecycleFlags(flags);
}

/** Options of the control plane that the agent itself uses, too. */
const sharedOptions = ['--group-suffix', '--taint-domain'];

function warnOfUnused(forwarded: readonly string[], log: Logger): void {
  const names = new Set(forwarded.map((argument) => argument.split('=', 1)[0] ?? ''));
  const unused = [...names].filter((name) => !sharedOptions.includes(name));
  if (unused.length === 0) return;
  log.warn(`${unused.join(', ')}: no effect, for the agent runs no control plane of its own`);
}

function selectControlPlane(
  flags: AgentFlags,
  forwarded: readonly string[],
  context: CommandContext,
): ControlPlane {
  const { kubeconfig, bootstrapKubeconfig, embeddedControlPlane, rootDir } = flags;
  if (bootstrapKubeconfig !== undefined) {
    if (kubeconfig !== undefined || embeddedControlPlane !== undefined) {
      throw new ExitError(
        exitCodes.usage,
        '--bootstrap-kubeconfig goes with neither --kubeconfig nor --embedded-control-plane: it makes a kubeconfig of its own',
      );
    }
    return { mode: 'joining', kubeconfig: joinedKubeconfigPath(rootDir), bootstrapKubeconfig };
  }
  if (kubeconfig !== undefined && embeddedControlPlane === true) {
    throw new ExitError(
      exitCodes.usage,
      '--kubeconfig and --embedded-control-plane=true exclude each other: the control plane is either remote or embedded',
    );
  }
  if (kubeconfig !== undefined) return { mode: 'remote', kubeconfig: resolve(kubeconfig) };
  if (embeddedControlPlane === false) return { mode: 'standalone' };
  return { mode: 'embedded', script: context.script, args: apiServerArgs(flags, forwarded) };
}

/** The arguments of the child process. */
function apiServerArgs(flags: AgentFlags, forwarded: readonly string[]): string[] {
  return [
    `--root-dir=${resolve(flags.rootDir)}`,
    ...forwarded,
    ...gatesArgs(apiServerGates(flags.featureGates ?? {})),
    ...(flags.logFormat === undefined ? [] : [`--log-format=${flags.logFormat}`]),
    ...(flags.verbose ? ['--verbose'] : []),
  ];
}

function gatesArgs(gates: AskedGates): string[] {
  const texts = Object.entries(gates).map(([name, on]) => `${name}=${on}`);
  return texts.length === 0 ? [] : [`--feature-gates=${texts.join(',')}`];
}
