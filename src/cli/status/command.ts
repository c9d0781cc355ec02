import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { describeError, exitCodes, systemClock } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { withClient } from '../access/query.ts';
import { connectAgent } from '../agent-client/connection.ts';
import { findExaminedAgent } from '../agent-client/examined-agent.ts';
import { isNoAccess } from '../agent-client/no-access.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { agentOptions } from '../agent-client/options.ts';
import { requestAgent, toRecords } from '../agent-client/response.ts';
import { describePressure } from '../pods/explanation.ts';
import { describeRefused } from '../pods/list.ts';
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
  const [served, checkpoints, hindrances, certificates] = await Promise.all([
    inspectServed(flags, signal).catch(tellOf('control plane', 'systemctl status nodeward')),
    inspectCheckpoints(flags, signal).catch((error: unknown) => inspectAbsence(error, flags, context)),
    inspectHindrances(flags, signal).catch((): Finding[] => []), // why the agent cannot be asked stands beside the checkpoints
    inspectLocal(flags),
  ]);
  context.signal.throwIfAborted();
  return [served, hindrances, checkpoints, certificates].flat();
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

/** Why the agent cannot be asked; on this machine, also whether another one uses its runtime, so that it cannot run. */
async function inspectAbsence(error: unknown, flags: Flags, context: CommandContext): Promise<Finding> {
  const finding = tellOf('agent', 'nodeward doctor')(error);
  if (finding.state !== 'failed' || flags.kubeconfig !== undefined) return finding;
  const { createLocalHost, findOtherAgent } = await import('../../agent/index.ts');
  const rootDir = resolve(flags.rootDir);
  const { running, sources } = await findExaminedAgent({ rootDir }, context);
  if (running !== undefined) return finding;
  const host = createLocalHost({ env: context.env });
  const other = await findOtherAgent({ sources, rootDir }, host, context.signal).catch(() => undefined);
  if (other === undefined) return finding;
  const mend = 'nodeward doctor --only runtime-agent';
  return { ...finding, found: `it cannot run: its container runtime is ${other.found}`, mend };
}

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

/** What stands in the way of the node's pods: nothing where it is short of nothing and all its manifests are used. */
async function inspectHindrances(flags: Flags, signal: AbortSignal): Promise<Finding[]> {
  await using client = await connectAgent(flags);
  const page = await requestAgent(client, { method: 'GET', path: '/pods/explain', signal });
  const pressures = toRecords(page['pressures']).map((each): Finding => {
    const found = describePressure(each, systemClock.now());
    return { part: 'pressure', state: 'warning', found, mend: 'nodeward doctor; nodeward pods ls' };
  });
  const [first, ...more] = describeRefused(page);
  if (first === undefined) return pressures;
  const found = `${first}${more.length === 0 ? '' : `; and ${more.length} more`}`;
  return [...pressures, { part: 'manifests', state: 'warning', found, mend: 'nodeward pods ls' }];
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
