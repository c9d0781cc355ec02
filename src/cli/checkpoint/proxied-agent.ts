import { hostname } from 'node:os';
import type { Pod } from '../../api/index.ts';
import { nodeKind, podKind, StatusError } from '../../api/index.ts';
import { ExitError, exitCodes, tryParseRecord } from '../../base/index.ts';
import type { ApiClient, ClientOptions } from '../../client/index.ts';

/** Whose container is meant. */
export interface MeantPod {
  namespace: string;
  name: string;
}

/**
 * An agent as it is reached through the control plane: requests go to the proxy verb of its node, with the caller's own
 * credentials, and need not know it. They need the permission nodes/proxy and nothing of the agent's network.
 */
export function proxiedAgent(controlPlane: ClientOptions, node: string): ClientOptions {
  const server = controlPlane.server.replace(/\/+$/, '');
  return { ...controlPlane, server: `${server}/api/v1/nodes/${encodeURIComponent(node)}/proxy` };
}

/** The node that is meant where nobody names it: the pod's, if the control plane knows the pod, else the only one. */
export async function findNodeName(api: ApiClient, pod: MeantPod | undefined): Promise<string> {
  const own = pod && (await nodeOfPod(api, pod));
  if (own !== undefined) return own;
  const { items } = await api.list(nodeKind);
  const names = items.flatMap(({ metadata }) => metadata?.name ?? []);
  const local = hostname().toLowerCase();
  const found = names.length === 1 ? names[0] : names.find((name) => name === local);
  if (found !== undefined) return found;
  const unknown =
    pod === undefined ? '' : `the control plane knows no node of pod ${pod.namespace}/${pod.name}, and `;
  const which = names.length === 0 ? 'there are no nodes' : `name one with --node: ${names.join(', ')}`;
  throw new ExitError(
    exitCodes.usage,
    `it is not clear on which node the container runs: ${unknown}${which}`,
  );
}

async function nodeOfPod(api: ApiClient, { namespace, name }: MeantPod): Promise<string | undefined> {
  try {
    const pod: Pod = await api.get(podKind, name, { namespace });
    return pod.spec?.nodeName || undefined;
  } catch (error) {
    // containers run without the control plane's knowing of them, and not everybody may read pods
    if (error instanceof StatusError && (error.code === 404 || error.code === 403)) return undefined;
    throw error;
  }
}

/** What an answer says to people: the agent's text, or the message of a Status. */
export function readAnswer(body: string): { text: string; isStatus: boolean } {
  const plain = { text: body.trim(), isStatus: false };
  if (!body.startsWith('{')) return plain;
  const value = tryParseRecord(body);
  if (value?.['kind'] !== 'Status' || typeof value['message'] !== 'string') return plain;
  return { text: value['message'], isStatus: true };
}
