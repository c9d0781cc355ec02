import type { Node, NodeStatus } from '../../api/index.ts';
import { canonicalObject, nodeKind, StatusError } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { ApiCalls, CallOptions } from './api-calls.ts';
import { withDeadline } from './deadline.ts';
import type { Registration } from './registration.ts';
import { newNode, plainRegistration, withLabels } from './registration.ts';
import { sameStatus } from './status.ts';

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
 * Makes the stored node say what is wanted, with as few requests as that takes: one GET when it says so already.
 * Nothing that others have written is lost: what they change in between makes a Conflict, and then all is looked
 * at again. Rejects after five such rounds, or with the first other failure.
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
    withDeadline({ ...context, signal }, `the API server (${what} node ${nodeName})`, (inner) =>
      call({ signal: inner }),
    );

  const stored = await found(ask('get', (options) => api.get(nodeKind, nodeName, options)));
  if (stored === undefined && !registration.register) throw new UnregisteredError(nodeName);
  const how = stored === undefined ? 'created' : 'found';
  let node =
    stored ??
    (await ask('create', (options) => {
      const made = newNode(nodeName, wanted.labels, registration);
      const fresh = { ...made, status: wanted.compose(undefined) };
      return api.create(nodeKind, fresh, options);
    }));

  const labelled = withLabels(node, wanted.labels);
  if (labelled !== undefined) {
    node = await ask('replace', (options) => api.replace(nodeKind, labelled, options));
  }

  // A server may or may not keep the status that a node was created with.
  const composed = { ...node, status: wanted.compose(node.status) };
  const { status = {} } = canonicalObject(nodeKind, composed); // or it would differ from the answer for ever
  if (sameStatus(node.status, status) && (!wanted.force || how === 'created')) {
    return { node, how, sent: how === 'created' };
  }
  const next = { ...node, status };
  node = await ask('update the status of', (options) =>
    api.replace(nodeKind, next, { ...options, subresource: 'status' }),
  );
  return { node, how, sent: true };
}

async function found(asked: Promise<Node>): Promise<Node | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}
