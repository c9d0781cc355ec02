import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import type { Node } from '../../api/index.ts';
import { nodeKind } from '../../api/index.ts';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../client/index.ts';
import { domain, filePath, rootDirOption } from '../flags.ts';

/** How the agent is reached. */
export interface AgentFlags {
  rootDir: string;
  kubeconfig?: string;
  node?: string;
  groupSuffix: string;
}

/** The flags of every command that asks an agent. */
export const agentOptions = () => [
  new Option('--kubeconfig <file>', 'whose credentials to use (default: the one in the root dir)').argParser(
    filePath,
  ),
  rootDirOption(),
  new Option('--node <name>', 'where the container runs (default: the only node, or this machine)'),
  new Option('--group-suffix <domain>', 'domain suffix of API groups').default('k8s.io').argParser(domain),
];

/** A client of the agent that is meant; connects to it with the first request. The caller disposes of it. */
export async function connectAgent(flags: AgentFlags): Promise<ApiClient> {
  const kubeconfig = await findKubeconfig(flags);
  const agent =
    kubeconfig.endpoint === 'agent' ? clientOptionsOf(kubeconfig) : await agentOf(kubeconfig, flags);
  return new ApiClient(agent);
}

async function findKubeconfig({ kubeconfig, rootDir }: AgentFlags): Promise<Kubeconfig> {
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
async function agentOf(kubeconfig: Kubeconfig, flags: AgentFlags) {
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
