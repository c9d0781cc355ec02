import type { CSINode, Node } from '../../../api/index.ts';
import { csiNodeKind, nodeKind, StatusError } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { withDeadline } from '../../../base/index.ts';
import type { ApiCalls, CallOptions } from '../../../client/index.ts';
import { ifFound, whoAnswers } from '../../../client/index.ts';
import type { NodeIdentity } from './csi-node-object.ts';
import { newCsiNode, ownedBy, withDriver, withoutDrivers } from './csi-node-object.ts';
import type { MarkChange } from './node-metadata.ts';
import { marksFor, marksWithout, nodeIdsOf, TopologyConflict } from './node-metadata.ts';
import type { CsiDriver } from './types.ts';

export interface PublishContext {
  readonly nodeName: string;
  readonly api: ApiCalls;
  readonly clock: Clock;
}

/** The two objects as they were seen last. */
export interface Stored {
  node: Node;
  csiNode: CSINode;
}

const requestTimeoutMs = 10_000;

/** An entry that has changed goes, comes, and is done. */
const maxWrites = 3;

/**
 * The Node and its CSINode, which is made where there is none and given its owner where that is another. Rejects as the API
 * does, and where there is no Node yet.
 */
export async function readStored(context: PublishContext, signal: AbortSignal): Promise<Stored> {
  const node = await ifFound(
    ask(context, signal, 'get node', (options) => context.api.get(nodeKind, context.nodeName, options)),
  );
  const uid = node?.metadata?.uid;
  if (node === undefined || uid === undefined) throw new Error(`there is no Node ${context.nodeName} yet`);
  const identity = { name: context.nodeName, uid };
  const csiNode = (await readCsiNode(context, signal)) ?? (await make(context, identity, signal));
  const adopted = ownedBy(csiNode, identity);
  return { node, csiNode: adopted === undefined ? csiNode : await replace(context, adopted, signal) };
}

/** Undefined where there is none. */
export async function readCsiNode(
  context: PublishContext,
  signal: AbortSignal,
): Promise<CSINode | undefined> {
  const { api, nodeName } = context;
  return await ifFound(
    ask(context, signal, 'get csinode', (options) => api.get(csiNodeKind, nodeName, options)),
  );
}

async function make(context: PublishContext, node: NodeIdentity, signal: AbortSignal): Promise<CSINode> {
  const made = newCsiNode(node);
  return await ask(context, signal, 'create csinode', (options) =>
    context.api.create(csiNodeKind, made, options),
  );
}

/** Makes both say what this driver has said; answers how they are afterwards. Rejects with a TopologyConflict, or as the API does. */
export async function publishDriver(
  context: PublishContext,
  stored: Stored,
  driver: CsiDriver,
  signal: AbortSignal,
): Promise<Stored> {
  let { node, csiNode } = stored;
  const marks = marksFor(node, driver);
  if (marks !== undefined) node = await mark(context, node, marks, signal);
  for (let writes = 0; writes < maxWrites; writes += 1) {
    const next = withDriver(csiNode, driver);
    if (next === undefined) return { node, csiNode };
    csiNode = await replace(context, next, signal);
  }
  if (withDriver(csiNode, driver) !== undefined)
    throw new Error(`the API does not keep what it is told of ${driver.name} in the CSINode`);
  return { node, csiNode };
}

/** Takes drivers that have gone out of both, the CSINode first: then nothing is placed on their account any more. */
export async function withdrawDrivers(
  context: PublishContext,
  stored: Stored,
  gone: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Stored> {
  const next = withoutDrivers(stored.csiNode, gone);
  const csiNode = next === undefined ? stored.csiNode : await replace(context, next, signal);
  const marks = marksWithout(stored.node, gone);
  return {
    csiNode,
    node: marks === undefined ? stored.node : await mark(context, stored.node, marks, signal),
  };
}

/** Names that either of them holds. */
export function namesIn({ node, csiNode }: Stored): ReadonlySet<string> {
  return new Set([...nodeIdsOf(node).keys(), ...csiNode.spec.drivers.map(({ name }) => name)]);
}

/** Only where nobody has changed the Node since: its annotation holds what all drivers say. */
async function mark(
  context: PublishContext,
  node: Node,
  change: MarkChange,
  signal: AbortSignal,
): Promise<Node> {
  const { uid, resourceVersion } = node.metadata ?? {};
  const body = { metadata: { uid, resourceVersion, ...change } };
  return await ask(context, signal, 'patch node', (options) =>
    context.api.patch(nodeKind, context.nodeName, body, { ...options, as: 'merge' }),
  );
}

async function replace(context: PublishContext, next: CSINode, signal: AbortSignal): Promise<CSINode> {
  return await ask(context, signal, 'update csinode', (options) =>
    context.api.replace(csiNodeKind, next, options),
  );
}

async function ask<T>(
  context: PublishContext,
  signal: AbortSignal,
  what: string,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const { api, clock, nodeName } = context;
  const who = whoAnswers(api, `${what} ${nodeName}`);
  return await withDeadline({ clock, timeoutMs: requestTimeoutMs, signal }, who, (inner) =>
    call({ signal: inner }),
  );
}

const races: readonly string[] = ['Conflict', 'NotFound', 'AlreadyExists'];
const refusals: readonly string[] = ['Invalid', 'Forbidden', 'BadRequest', 'RequestEntityTooLarge'];

/** Another was faster; with a fresh look it may go. */
export function isRace(error: unknown): boolean {
  return error instanceof StatusError && races.includes(error.reason);
}

/** It is about this driver, and asking again at once does not help. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof TopologyConflict || (error instanceof StatusError && refusals.includes(error.reason))
  );
}
