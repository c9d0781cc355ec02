import { Command } from 'commander';
import { resolveGates } from '../api/index.ts';
import type { ApiServerOptions } from '../apiserver/index.ts';
import { describeError, ExitError, exitCodes, systemClock } from '../base/index.ts';
import type { ChildEnd } from '../client/embedded/index.ts';
import { attachToAgent } from '../client/embedded/index.ts';
import { readAdmissionFlags } from './flags/admission-flags.ts';
import { readAuditFlags } from './flags/audit-flags.ts';
import { readAuthenticationFlags } from './flags/authentication-flags.ts';
import { readAuthorizationFlags } from './flags/authorization-flags.ts';
import { checkGates, featureGatesOption, logOptions, ownRootDirOption } from './flags/common-flags.ts';
import type { ControlPlaneFlags } from './flags/control-plane-flags.ts';
import { controlPlaneOptions } from './flags/control-plane-flags.ts';
import { readEtcdFlags } from './flags/etcd-flags.ts';
import { readNodeLifecycleFlags } from './flags/node-lifecycle-flags.ts';
import { readSchedulerFlags } from './flags/scheduler-flags.ts';
import { readServiceFlags } from './flags/service-flags.ts';
import type { CommandContext, LogFlags } from './terminal/context.ts';
import { commandLogger, ReportedError } from './terminal/context.ts';

type Flags = ControlPlaneFlags & LogFlags & { rootDir: string; featureGates?: Record<string, boolean> };

/** `nodeward apiserver`: a control plane by itself, or as the child process of an agent. */
export function apiServerCommand(context: CommandContext): Command {
  const command = new Command('apiserver')
    .description('Run the control plane: the API over HTTPS, with its own certificates and storage.')
    .addOption(ownRootDirOption())
    .addOption(featureGatesOption())
    .action(async (flags: Flags) => await serve(flags, context));
  for (const option of [...controlPlaneOptions(), ...logOptions()]) command.addOption(option);
  return command;
}

async function serve(flags: Flags, context: CommandContext): Promise<void> {
  const agent = context.agent && attachToAgent(context.agent, { onStop: context.stop });
  try {
    await run(flags, context, agent);
  } catch (error) {
    if (!context.agent?.connected) throw error;
    const code = error instanceof ExitError ? error.exitCode : exitCodes.failed;
    await agent?.failed(describeError(error), code); // the agent reports it to the user
    throw new ReportedError(code);
  }
}

async function run(flags: Flags, context: CommandContext, agent: ChildEnd | undefined): Promise<void> {
  const warnings = checkGates(flags.featureGates ?? {});
  const { runApiServer } = await import('../apiserver/index.ts'); // an agent need not load a control plane
  const options = toApiServerOptions(flags, context);
  for (const warning of warnings) options.log.warn(warning);
  await runApiServer(options, context.signal, ({ url, ca, kubeconfig, sign }) => {
    if (agent) agent.ready({ url, ca, kubeconfig }, sign);
    else context.stdout.write(`serving on ${url} (kubeconfig ${kubeconfig})\n`);
  });
}

function toApiServerOptions(flags: Flags, context: CommandContext): ApiServerOptions {
  const { rootDir, groupSuffix, bindAddress, securePort, http2, storage, historyBytes } = flags;
  return {
    rootDir,
    groupSuffix,
    bindAddress,
    securePort,
    http2,
    storage,
    historyMs: flags.historyWindow,
    historyBytes,
    eventTtlMs: flags.eventTtl,
    inFlight: { reading: flags.maxRequestsInflight, mutating: flags.maxMutatingRequestsInflight },
    etcd: readEtcdFlags(flags),
    authentication: readAuthenticationFlags(flags),
    authorization: readAuthorizationFlags(flags),
    audit: readAuditFlags(flags),
    defaultTolerations: readAdmissionFlags(flags),
    serviceRanges: readServiceFlags(flags),
    scheduler: readSchedulerFlags(flags),
    workloadControllers: flags.workloadControllers,
    nodeLifecycle: readNodeLifecycleFlags(flags),
    featureGates: resolveGates(flags.featureGates ?? {}),
    clock: systemClock,
    log: commandLogger(context, flags),
  };
}
