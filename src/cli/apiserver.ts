import { Command } from 'commander';
import { resolveGates } from '../api/index.ts';
import { describeError, ExitError, exitCodes, systemClock } from '../base/index.ts';
import type { ChildEnd } from '../client/embedded/index.ts';
import { attachToAgent } from '../client/embedded/index.ts';
import type { CommandContext, LogFlags } from './context.ts';
import { commandLogger, ReportedError } from './context.ts';
import { auditOf } from './flags/audit-flags.ts';
import { authenticationOf } from './flags/authentication-flags.ts';
import { authorizationOf } from './flags/authorization-flags.ts';
import type { AllControlPlaneFlags } from './flags/control-plane-flags.ts';
import { allControlPlaneOptions } from './flags/control-plane-flags.ts';
import { etcdOf } from './flags/etcd-flags.ts';
import { checkGates, featureGatesOption, logOptions, rootDirOption } from './flags/flags.ts';
import { nodeLifecycleOf } from './flags/node-lifecycle-flags.ts';

type Flags = AllControlPlaneFlags & LogFlags & { rootDir: string; featureGates?: Record<string, boolean> };

/** `nodeward apiserver`: the control plane by itself, or as the child of an agent. */
export function apiServerCommand(context: CommandContext): Command {
  const command = new Command('apiserver')
    .description('Run the control plane: the API over HTTPS with its own certificates and storage.')
    .addOption(rootDirOption())
    .addOption(featureGatesOption())
    .action(async (flags: Flags) => await serve(flags, context));
  for (const option of [...allControlPlaneOptions(), ...logOptions()]) command.addOption(option);
  return command;
}

async function serve(flags: Flags, context: CommandContext): Promise<void> {
  const agent = context.agent && attachToAgent(context.agent, { onStop: context.stop });
  try {
    await run(flags, context, agent);
  } catch (error) {
    if (!context.agent?.connected) throw error;
    const code = error instanceof ExitError ? error.exitCode : exitCodes.failed;
    await agent?.failed(describeError(error), code); // it is the agent that tells people
    throw new ReportedError(code);
  }
}

async function run(flags: Flags, context: CommandContext, agent: ChildEnd | undefined): Promise<void> {
  checkGates(flags.featureGates ?? {});
  const { runApiServer } = await import('../apiserver/index.ts'); // an agent need not load a control plane
  const log = commandLogger(context, flags);
  const { rootDir, groupSuffix, bindAddress, securePort, http2, storage, eventTtl } = flags;
  const { historyWindow: historyMs, historyBytes } = flags;
  const inFlight = { reading: flags.maxRequestsInflight, mutating: flags.maxMutatingRequestsInflight };
  const featureGates = resolveGates(flags.featureGates ?? {});
  const etcd = etcdOf(flags);
  const authentication = authenticationOf(flags);
  const authorization = authorizationOf(flags);
  const audit = auditOf(flags);
  const nodeLifecycle = nodeLifecycleOf(flags);
  const place = { rootDir, groupSuffix, bindAddress, securePort, http2, storage, eventTtlMs: eventTtl };
  await runApiServer(
    {
      ...place,
      historyMs,
      historyBytes,
      etcd,
      inFlight,
      authentication,
      authorization,
      audit,
      nodeLifecycle,
      featureGates,
      clock: systemClock,
      log,
    },
    context.signal,
    ({ url, ca, kubeconfig, sign }) => {
      if (agent) agent.ready({ url, ca, kubeconfig }, sign);
      else context.stdout.write(`serving on ${url} (kubeconfig ${kubeconfig})\n`);
    },
  );
}
