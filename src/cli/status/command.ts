import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { describeError, exitCodes, systemClock } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { withClient } from '../access/query.ts';
import { connectAgent } from '../agent-client/connection.ts';
import { isNoAccess } from '../agent-client/no-access.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { agentOptions } from '../agent-client/options.ts';
import { requestAgent, toRecords } from '../agent-client/response.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { textOutputOption, writeResult } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { formatRoughDuration } from '../terminal/text.ts';
import { inspectCertificates } from './certificates.ts';
import { findNode, inspectNode, inspectPods, inspectServer, inspectStore } from './control-plane.ts';
import type { Finding } from './report.ts';
import { isWell, toReport } from './report.ts';

type Flags = AgentFlags & OutputFlags;

/** For all that is asked of others. */
const limitMs = 15_000;

/** `nodeward status` */
export function statusCommand(context: CommandContext): Command {
  const command = new Command('status')
    .description(
      'Show at a glance how a node, its control plane, store, pods, certificates and checkpoints are, what is wrong first. Exit code 0: all is well, 1: it is not.',
    )
    .addOption(textOutputOption());
  for (const option of agentOptions()) command.addOption(option);
  return command.action(async (flags: Flags) => {
    const findings = await inspectAll(flags, context);
    writeResult(context, flags.output, toReport(findings, context.env['NODEWARD_COMMAND'] ?? 'nodeward'));
    if (!isWell(findings)) throw new ReportedError(exitCodes.failed);
  });
}

async function inspectAll(flags: Flags, context: CommandContext): Promise<Finding[]> {
  using _progress = showProgress(context, 'looking at the node');
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(limitMs)]);
  const [served, checkpoints, certificates] = await Promise.all([
    inspectServed(flags, signal).catch(tellOf('control plane', 'systemctl status nodeward')),
    inspectCheckpoints(flags, signal).catch(tellOf('agent', 'nodeward doctor')),
    inspectLocal(flags),
  ]);
  context.signal.throwIfAborted();
  return [served, checkpoints, certificates].flat();
}

/** What is on this machine; nothing where a kubeconfig is used, whose control plane and node may be elsewhere. */
async function inspectLocal({ kubeconfig, rootDir }: Flags): Promise<Finding[]> {
  if (kubeconfig !== undefined) return [];
  return [await inspectCertificates(join(resolve(rootDir), 'pki'), systemClock.now())];
}

/** A part that cannot be asked is one that has failed, unless this user may not ask it. */
const tellOf =
  (part: string, mend: string) =>
  (error: unknown): Finding =>
    isNoAccess(error)
      ? { part, state: 'unknown', found: describeError(error) }
      : { part, state: 'failed', found: describeError(error), mend };

async function inspectServed(flags: Flags, signal: AbortSignal): Promise<Finding[]> {
  return await withClient(flags, async (client) => {
    const server = await inspectServer(client, signal);
    const store = inspectStore(client, signal).catch(tellOf('store', 'nodeward storage check'));
    return [server, await store, ...(await inspectNodeAndPods(client, flags, signal))];
  });
}

async function inspectNodeAndPods(client: ApiClient, flags: Flags, signal: AbortSignal): Promise<Finding[]> {
  const local = hostname().toLowerCase();
  try {
    const node = await findNode(client, { name: flags.node, local, signal });
    const name = node?.metadata?.name;
    if (node === undefined || name === undefined)
      return [
        { part: 'node', state: 'unknown', found: `there is none named ${local}; name one with --node` },
      ];
    const pods = await inspectPods(client, name, signal).catch(tellOf('pods', 'kubectl get pods -A'));
    return [inspectNode(node, systemClock.now()), pods];
  } catch (error) {
    return [tellOf('node', 'kubectl get nodes')(error)];
  }
}

async function inspectCheckpoints(flags: Flags, signal: AbortSignal): Promise<Finding> {
  const part = 'checkpoints';
  await using client = await connectAgent(flags);
  const page = await requestAgent(client, { method: 'GET', path: '/checkpoints?limit=1', signal });
  const [last] = toRecords(page['items']);
  if (last === undefined) return { part, state: 'ok', found: 'there are none' };
  const { id, state } = last;
  const madeAt = Date.parse(String(Object(last['record'])['startedAt'] ?? last['modifiedAt']));
  const found = `the last is ${String(id)}, of ${formatRoughDuration(systemClock.now() - madeAt)} ago`;
  if (state !== 'Damaged') return { part, state: 'ok', found };
  return {
    part,
    state: 'failed',
    found: `${found}; it is damaged`,
    mend: `nodeward checkpoint verify ${String(id)}`,
  };
}
