import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { Pod } from '../../api/index.ts';
import { nodeKind, podKind, StatusError } from '../../api/index.ts';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { ClientOptions, Kubeconfig, RawAnswer, RawRequest } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../client/index.ts';
import { isNoAccess, NoAccessError } from './no-access.ts';
import type { AgentFlags } from './options.ts';

/** The pod whose container a command is about. */
interface PodName {
  namespace: string;
  name: string;
}

/**
 * Returns a client of the agent; it connects with its first request, and the caller disposes of it. With `--kubeconfig`
 * requests go through the control plane, so that only that must be reachable; with a kubeconfig of the root dir they go
 * to the agent itself. Without `--node` the agent is that of the node where `pod` runs.
 */
export async function connectAgent(flags: AgentFlags, pod?: PodName): Promise<ApiClient> {
  flags.announcePlace?.();
  const { kubeconfig, ownNode } = await loadCredentials(flags);
  if (kubeconfig.endpoint === 'agent') return new ApiClient(clientOptionsOf(kubeconfig));
  const options = { ...clientOptionsOf(kubeconfig), groupSuffix: flags.groupSuffix };
  await using api = new ApiClient(options);
  const node = flags.node ?? ownNode ?? (await resolveNodeName(api, pod));
  if (flags.kubeconfig !== undefined) return new ApiClient(proxyOptions(options, node));
  if (ownNode === undefined) return new ApiClient(await directOptions(api, options, node));
  const direct = await directOptions(api, options, node).catch((error: unknown) => {
    throw isNoAccess(error) ? createOwnNodeError(ownNode, error) : error;
  });
  return new OwnNodeClient(direct, ownNode);
}

/**
 * Returns a client of the control plane, which the caller disposes of; undefined where the only credentials are for the agent
 * itself, or the own ones of a node.
 */
export async function connectControlPlane(flags: AgentFlags): Promise<ApiClient | undefined> {
  flags.announcePlace?.();
  const { kubeconfig, ownNode } = await loadCredentials(flags);
  if (kubeconfig.endpoint === 'agent' || ownNode !== undefined) return undefined;
  return new ApiClient({ ...clientOptionsOf(kubeconfig), groupSuffix: flags.groupSuffix });
}

/** A client with the credentials of the node itself. A request that the agent does not allow these is a NoAccessError. */
class OwnNodeClient extends ApiClient {
  readonly #node: string;

  constructor(options: ClientOptions, node: string) {
    super(options);
    this.#node = node;
  }

  override async request(request: RawRequest): Promise<RawAnswer> {
    const answer = await super.request(request);
    if (answer.code === 403) throw createOwnNodeError(this.#node);
    return answer;
  }
}

function createOwnNodeError(node: string, cause?: unknown): NoAccessError {
  const refused = `the own credentials of the node ${node}, which are all that there are here, may not do this`;
  const todo = 'name the kubeconfig of an administrator with --kubeconfig';
  return new NoAccessError(exitCodes.failed, `${refused}; ${todo}`, { cause });
}

interface Credentials {
  kubeconfig: Kubeconfig;
  /** The node whose own credentials these are, which may see no other node. */
  ownNode?: string;
}

/** Those of `--kubeconfig`, those in the root dir, or those that the agent which runs there uses itself. */
async function loadCredentials({ kubeconfig, rootDir }: AgentFlags): Promise<Credentials> {
  if (kubeconfig !== undefined) return { kubeconfig: await readKubeconfig(resolve(kubeconfig)) };
  const candidates = ['admin.kubeconfig', 'agent.kubeconfig'].map((name) => join(resolve(rootDir), name));
  for (const candidate of candidates) {
    try {
      return { kubeconfig: await readKubeconfig(candidate) };
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  const { findRunningAgent } = await import('../../agent/index.ts');
  const { agent } = await findRunningAgent(resolve(rootDir), AbortSignal.timeout(10_000));
  if (agent?.kubeconfig !== undefined)
    return { kubeconfig: await readKubeconfig(agent.kubeconfig), ownNode: agent.nodeName };
  throw new ExitError(
    exitCodes.configuration,
    `there is no kubeconfig in ${resolve(rootDir)}; name the agent's folder with --root-dir, or a kubeconfig with --kubeconfig`,
  );
}

/**
 * Requests go to the proxy subresource of the node, with the caller's own credentials. The caller needs the permission
 * nodes/proxy, and no route to the agent.
 */
function proxyOptions(controlPlane: ClientOptions, node: string): ClientOptions {
  const server = controlPlane.server.replace(/\/+$/, '');
  return { ...controlPlane, server: `${server}/api/v1/nodes/${encodeURIComponent(node)}/proxy` };
}

/** Requests go to the address in the node's status; the agent's certificate must be for the node's name. */
async function directOptions(api: ApiClient, options: ClientOptions, name: string): Promise<ClientOptions> {
  const { status } = await api.get(nodeKind, name);
  const { addresses = [], daemonEndpoints } = status ?? {};
  const address = addresses.find(({ type }) => type === 'InternalIP')?.address;
  const port = daemonEndpoints?.kubeletEndpoint?.Port;
  if (address === undefined || port === undefined) {
    throw new ExitError(
      exitCodes.failed,
      `node ${name} has not reported the address of its agent; see: kubectl get node ${name} -o yaml`,
    );
  }
  const host = address.includes(':') ? `[${address}]` : address;
  return { ...options, server: `https://${host}:${port}`, serverName: name };
}

/** The node of the pod if the control plane knows it, else the only node, else the one named like this machine. */
async function resolveNodeName(api: ApiClient, pod: PodName | undefined): Promise<string> {
  const nodeName = pod && (await findNodeOfPod(api, pod));
  if (nodeName !== undefined) return nodeName;
  const { items } = await api.list(nodeKind);
  const names = items.flatMap(({ metadata }) => metadata?.name ?? []);
  const local = hostname().toLowerCase();
  const found = names.length === 1 ? names[0] : names.find((name) => name === local);
  if (found !== undefined) return found;
  const unknown =
    pod === undefined ? '' : `the control plane knows no node of pod ${pod.namespace}/${pod.name}, and `;
  const choice = names.length === 0 ? 'there are no nodes' : `name one with --node: ${names.join(', ')}`;
  throw new ExitError(
    exitCodes.usage,
    `it is not clear on which node the container runs: ${unknown}${choice}`,
  );
}

async function findNodeOfPod(api: ApiClient, { namespace, name }: PodName): Promise<string | undefined> {
  try {
    const pod: Pod = await api.get(podKind, name, { namespace });
    return pod.spec?.nodeName || undefined;
  } catch (error) {
    // the container may run without a pod in the control plane, and the caller may not be allowed to read pods
    if (error instanceof StatusError && (error.code === 404 || error.code === 403)) return undefined;
    throw error;
  }
}
