import type { Node, NodeStatus } from '../../api/index.ts';
import { canonicalObject, nodeKind, StatusError } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { withDeadline } from '../../base/index.ts';
import type { ApiCalls, CallOptions } from '../../client/index.ts';
import { ifFound, whoAnswers } from '../../client/index.ts';
import type { Registration } from './registration.ts';
import { createNodeObject, findMissingLabels, plainRegistration } from './registration.ts';
import { isSameStatus } from './status.ts';
import { computeStatusPatch } from './status-patch.ts';

export interface SyncContext {
  nodeName: string;
  api: ApiCalls;
  clock: Clock;
  /** For each request. */
  timeoutMs: number;
}

export interface Wanted {
  labels: Readonly<Record<string, string>>;
  /** How to create a missing Node; default with the labels alone. */
  registration?: Registration;
  /** The status to publish on top of what is stored. */
  compose(previous: NodeStatus | undefined): NodeStatus;
  /** Publish even where only the time of the heartbeat has changed. */
  force: boolean;
}

export interface SyncResult {
  node: Node;
  how: 'created' | 'found';
  /** Whether a status was sent. */
  sent: boolean;
}

const maxAttempts = 5;

/**
 * Brings the stored Node to the wanted state with as few requests as possible: one GET when it is in that state already. It
 * sends patches that hold only the agent's own fields, so nothing that others have written is lost, whether written in
 * between or unknown here. A patch applies only to the Node that was read; where that was replaced meanwhile, all steps
 * are repeated. Rejects after five such attempts, or with the first other failure.
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
      if (attempt >= maxAttempts || !isRace(error)) throw error;
    }
  }
}

/** There is no such Node, and the agent must not create it. */
class UnregisteredError extends Error {
  override readonly name = 'UnregisteredError';

  constructor(node: string) {
    super(`there is no Node ${node}, and registerNode is false: make it, or set registerNode to true`);
  }
}

/** Another client was faster: it changed, removed or created the Node. */
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
      const made = createNodeObject(nodeName, wanted.labels, registration);
      const fresh = { ...made, status: wanted.compose(undefined) };
      return api.create(nodeKind, fresh, options);
    }));

  const metadata = { uid: node.metadata?.uid };
  const labels = findMissingLabels(node, wanted.labels);
  if (labels !== undefined) {
    const change = { metadata: { ...metadata, labels } };
    node = await ask('patch', (options) =>
      api.patch(nodeKind, nodeName, change, { ...options, as: 'strategic' }),
    );
  }

  // A server may or may not keep the status that a node was created with.
  const status = canonicalStatus({ ...node, status: wanted.compose(node.status) });
  const before = canonicalStatus(node); // in the same form, or it would always differ
  if (isSameStatus(before, status) && (!wanted.force || how === 'created')) {
    return { node, how, sent: how === 'created' };
  }
  const change = { metadata, status: computeStatusPatch(before, status) };
  node = await ask('patch the status of', (options) =>
    api.patch(nodeKind, nodeName, change, { ...options, subresource: 'status', as: 'strategic' }),
  );
  return { node, how, sent: true };
}

function canonicalStatus(node: Node): NodeStatus {
  return canonicalObject(nodeKind, node).status ?? {};
}
