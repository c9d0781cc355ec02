import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { nodeKind } from '../../api/index.ts';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { ClientOptions, Kubeconfig } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../client/index.ts';
import { domain, filePath, rootDirOption } from '../flags/flags.ts';
import type { MeantPod } from './proxied-agent.ts';
import { findNodeName, proxiedAgent } from './proxied-agent.ts';

/** How the agent is reached. */
export interface AgentFlags {
  rootDir: string;
  kubeconfig?: string;
  node?: string;
  groupSuffix: string;
}

/** The flags of every command that asks an agent; `node`: what `--node` is for. */
export const agentOptions = (
  node = 'where the container runs (default: the node of its pod, the only node, or this machine)',
) => [
  new Option(
    '--kubeconfig <file>',
    'whose credentials to use, through its control plane (default: the one in the root dir, to the agent itself)',
  ).argParser(filePath),
  rootDirOption(),
  new Option('--node <name>', node),
  new Option('--group-suffix <domain>', 'domain suffix of API groups').default('k8s.io').argParser(domain),
];

/**
 * A client of the agent that is meant; connects to it with the first request. The caller disposes of it. With a control
 * plane's kubeconfig that is given, requests go through the control plane, so that it alone must be reached; with the one
 * in the root folder they go to the agent itself. `pod`: whose node is meant where none is named.
 */
export async function connectAgent(flags: AgentFlags, pod?: MeantPod): Promise<ApiClient> {
  const kubeconfig = await findKubeconfig(flags);
  if (kubeconfig.endpoint === 'agent') return new ApiClient(clientOptionsOf(kubeconfig));
  const options = { ...clientOptionsOf(kubeconfig), groupSuffix: flags.groupSuffix };
  await using api = new ApiClient(options);
  const node = flags.node ?? (await findNodeName(api, pod));
  const isThrough = flags.kubeconfig !== undefined;
  return new ApiClient(isThrough ? proxiedAgent(options, node) : await directAgent(api, options, node));
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

/** The agent itself, where its node says that it is; its certificate must be the node's. */
async function directAgent(api: ApiClient, options: ClientOptions, name: string): Promise<ClientOptions> {
  const { status } = await api.get(nodeKind, name);
  const { addresses = [], daemonEndpoints } = status ?? {};
  const address = addresses.find(({ type }) => type === 'InternalIP')?.address;
  const port = daemonEndpoints?.kubeletEndpoint?.Port;
  if (address === undefined || port === undefined) {
    throw new ExitError(
      exitCodes.failed,
      `node ${name} has not told where its agent is; look at: kubectl get node ${name} -o yaml`,
    );
  }
  const host = address.includes(':') ? `[${address}]` : address;
  return { ...options, server: `https://${host}:${port}`, serverName: name };
}
