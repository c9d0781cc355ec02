import type { Node, NodeStatus } from '../../api/index.ts';
import { canonicalObject, nodeKind, StatusError } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { withDeadline } from '../../base/index.ts';
import type { ApiCalls, CallOptions } from '../../client/index.ts';
import { ifFound, whoAnswers } from '../../client/index.ts';
import type { Registration } from './registration.ts';
import { missingLabels, newNode, plainRegistration } from './registration.ts';
import { sameStatus } from './status.ts';
import { statusPatch } from './status-patch.ts';

export interface SyncContext {
  nodeName: string;
  api: ApiCalls;
  clock: Clock;
  /** For each request. */
  timeoutMs: number;
}

export interface Wanted {
  labels: Readonly<Record<string, string>>;
  /** How a node is made that is not there; default with the labels alone. */
  registration?: Registration;
  /** The status to publish on top of what is stored. */
  compose(previous: NodeStatus | undefined): NodeStatus;
  /** Publish even where nothing but the heartbeat's time is new. */
  force: boolean;
}

export interface SyncResult {
  node: Node;
  how: 'created' | 'found';
  /** Whether a status was sent. */
  sent: boolean;
}

const attemptLimit = 5;

/**
 * Makes the stored node say what is wanted, with as few requests as that takes: one GET when it says so already. It is
 * changed by patches that hold what is the agent's alone, so nothing that others have written is lost, be it written in
 * between or unknown here; they are for the Node that was seen, and where that is another by now, all is looked at
 * again. Rejects after five such rounds, or with the first other failure.
 */
export async function syncNode(
  context: SyncContext,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<SyncResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await syncOnce(context, wanted, signal);
    } catch (error) {
      if (attempt >= attemptLimit || !isRace(error)) throw error;
    }
  }
}

/** There is no such node, and it is not for the agent to make it. */
class UnregisteredError extends Error {
  override readonly name = 'UnregisteredError';

  constructor(node: string) {
    super(`there is no Node ${node}, and registerNode is false: make it, or set registerNode to true`);
  }
}

/** Another was faster: changed the node, removed it, or made it. */
function isRace(error: unknown): boolean {
  return error instanceof StatusError && ['Conflict', 'NotFound', 'AlreadyExists'].includes(error.reason);
}

async function syncOnce(context: SyncContext, wanted: Wanted, signal: AbortSignal): Promise<SyncResult> {
  const { nodeName, api } = context;
  const { registration = plainRegistration } = wanted;
  const ask = <T>(what: string, call: (options: CallOptions) => Promise<T>) =>
    withDeadline({ ...context, signal }, whoAnswers(api, `${what} node ${nodeName}`), (inner) =>
      call({ signal: inner }),
    );

  const stored = await ifFound(ask('get', (options) => api.get(nodeKind, nodeName, options)));
  if (stored === undefined && !registration.register) throw new UnregisteredError(nodeName);
  const how = stored === undefined ? 'created' : 'found';
  let node =
    stored ??
    (await ask('create', (options) => {
      const made = newNode(nodeName, wanted.labels, registration);
      const fresh = { ...made, status: wanted.compose(undefined) };
      return api.create(nodeKind, fresh, options);
    }));

  const metadata = { uid: node.metadata?.uid };
  const labels = missingLabels(node, wanted.labels);
  if (labels !== undefined) {
    const change = { metadata: { ...metadata, labels } };
    node = await ask('patch', (options) =>
      api.patch(nodeKind, nodeName, change, { ...options, as: 'strategic' }),
    );
  }

  // A server may or may not keep the status that a node was created with.
  const status = canonicalStatus({ ...node, status: wanted.compose(node.status) });
  const before = canonicalStatus(node); // in the same form, or it would differ for ever
  if (sameStatus(before, status) && (!wanted.force || how === 'created')) {
    return { node, how, sent: how === 'created' };
  }
  const change = { metadata, status: statusPatch(before, status) };
  node = await ask('patch the status of', (options) =>
    api.patch(nodeKind, nodeName, change, { ...options, subresource: 'status', as: 'strategic' }),
  );
  return { node, how, sent: true };
}

function canonicalStatus(node: Node): NodeStatus {
  return canonicalObject(nodeKind, node).status ?? {};
}
