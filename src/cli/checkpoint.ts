import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Node } from '../api/index.ts';
import { isRecord, nodeKind } from '../api/index.ts';
import { ExitError, errorCode, exitCodes } from '../base/index.ts';
import type { Kubeconfig } from '../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../client/index.ts';
import type { CommandContext } from './context.ts';
import { isTerminal } from './context.ts';
import { domain, filePath, rootDirOption } from './flags.ts';
import { showProgress } from './progress.ts';

interface Flags {
  rootDir: string;
  kubeconfig?: string;
  node?: string;
  timeout?: number;
  groupSuffix: string;
}

/** `nodeward checkpoint NAMESPACE/POD/CONTAINER` */
export function checkpointCommand(context: CommandContext): Command {
  return new Command('checkpoint')
    .description(
      'Write a checkpoint of a running container on its node, and print the path of the archive there.',
    )
    .argument('<namespace/pod/container>', 'what to checkpoint', target)
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'whose credentials to use (default: the one in the root dir)',
      ).argParser(filePath),
    )
    .addOption(rootDirOption())
    .addOption(
      new Option('--node <name>', 'where the container runs (default: the only node, or this machine)'),
    )
    .addOption(
      new Option(
        '--timeout <seconds>',
        'how long the runtime may take (default: as the agent is configured)',
      ).argParser(seconds),
    )
    .addOption(
      new Option('--group-suffix <domain>', 'domain suffix of API groups')
        .default('k8s.io')
        .argParser(domain),
    )
    .action(async (path: string, flags: Flags) => {
      context.stdout.write(`${await checkpoint(path, flags, context)}\n`);
    });
}

function target(text: string): string {
  const parts = text.split('/');
  if (parts.length === 3 && parts.every((part) => part !== ''))
    return parts.map(encodeURIComponent).join('/');
  throw new InvalidArgumentError('It must be NAMESPACE/POD/CONTAINER.');
}

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

async function checkpoint(path: string, flags: Flags, context: CommandContext): Promise<string> {
  const kubeconfig = await findKubeconfig(flags);
  const agent =
    kubeconfig.endpoint === 'agent' ? clientOptionsOf(kubeconfig) : await agentOf(kubeconfig, flags);
  await using client = new ApiClient(agent);
  using _progress = isTerminal(context.stderr)
    ? showProgress(context.stderr, `checkpointing ${decodeURIComponent(path)}`)
    : undefined;
  const query = flags.timeout === undefined ? '' : `?timeout=${flags.timeout}`;
  // no time limit here: the agent has its own, and to go away would cancel the checkpoint
  const { code, body } = await client.request({
    method: 'POST',
    path: `/checkpoint/${path}${query}`,
    timeoutMs: 0,
    signal: context.signal,
  });
  if (code === 200) return archiveIn(body);
  throw new ExitError(exitCodes.failed, `the agent at ${client.server} answered ${code}: ${body.trim()}`);
}

async function findKubeconfig({ kubeconfig, rootDir }: Flags): Promise<Kubeconfig> {
  if (kubeconfig !== undefined) return await readKubeconfig(resolve(kubeconfig));
  const candidates = ['admin.kubeconfig', 'agent.kubeconfig'].map((name) => join(resolve(rootDir), name));
  for (const candidate of candidates) {
    try {
      return await readKubeconfig(candidate);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  throw new ExitError(
    exitCodes.configuration,
    `there is no kubeconfig in ${resolve(rootDir)}; name the agent's folder with --root-dir, or a kubeconfig with --kubeconfig`,
  );
}

/** The agent of the node that is meant, as the API knows it; its certificate must be the node's. */
async function agentOf(kubeconfig: Kubeconfig, flags: Flags) {
  const options = { ...clientOptionsOf(kubeconfig), groupSuffix: flags.groupSuffix };
  await using api = new ApiClient(options);
  const node = await findNode(api, flags.node);
  const { addresses = [], daemonEndpoints } = node.status ?? {};
  const address = addresses.find(({ type }) => type === 'InternalIP')?.address;
  const port = daemonEndpoints?.kubeletEndpoint?.Port;
  const name = node.metadata?.name ?? '';
  if (address === undefined || port === undefined) {
    throw new ExitError(
      exitCodes.failed,
      `node ${name} has not told where its agent is; look at: kubectl get node ${name} -o yaml`,
    );
  }
  const host = address.includes(':') ? `[${address}]` : address;
  return { ...options, server: `https://${host}:${port}`, serverName: name };
}

async function findNode(api: ApiClient, name: string | undefined): Promise<Node> {
  if (name !== undefined) return await api.get(nodeKind, name);
  const { items } = await api.list(nodeKind);
  const own = hostname().toLowerCase();
  const found = items.length === 1 ? items[0] : items.find(({ metadata }) => metadata?.name === own);
  if (found !== undefined) return found;
  const names = items.map(({ metadata }) => metadata?.name).join(', ');
  const which = items.length === 0 ? 'there are no nodes' : `name one with --node: ${names}`;
  throw new ExitError(exitCodes.usage, `it is not clear on which node the container runs: ${which}`);
}

function archiveIn(body: string): string {
  const answer: unknown = JSON.parse(body);
  const items: unknown = isRecord(answer) ? answer['items'] : undefined;
  const path: unknown = Array.isArray(items) ? items[0] : undefined;
  if (typeof path === 'string') return path;
  throw new ExitError(exitCodes.failed, 'the agent answered without the path of an archive');
}
