import type { CSINode, Node } from '../../../api/index.ts';
import { csiNodeKind, nodeKind, StatusError } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { withDeadline } from '../../../base/index.ts';
import type { ApiCalls, CallOptions } from '../../../client/index.ts';
import { ifFound, whoAnswers } from '../../../client/index.ts';
import type { NodeIdentity } from './csi-node-object.ts';
import { createCsiNode, putDriver, removeDrivers, setOwner } from './csi-node-object.ts';
import type { MetadataChange } from './node-metadata.ts';
import { computeAddition, computeRemoval, readNodeIds, TopologyConflict } from './node-metadata.ts';
import type { CsiDriver } from './types.ts';

export interface PublishContext {
  readonly nodeName: string;
  readonly api: ApiCalls;
  readonly clock: Clock;
}

/** The two objects as they were read or written last. */
export interface StoredObjects {
  node: Node;
  csiNode: CSINode;
}

const requestTimeoutMs = 10_000;

/** A changed entry is removed, then added, and then found to need no write. */
const maxWrites = 3;

/**
 * Reads the Node and its CSINode. A missing CSINode is created, and the owner of an existing one is corrected. Rejects as the
 * API does, and when there is no Node yet.
 */
export async function readStored(context: PublishContext, signal: AbortSignal): Promise<StoredObjects> {
  const node = await ifFound(
    callApi(context, signal, 'get node', (options) => context.api.get(nodeKind, context.nodeName, options)),
  );
  const uid = node?.metadata?.uid;
  if (node === undefined || uid === undefined) throw new Error(`there is no Node ${context.nodeName} yet`);
  const identity = { name: context.nodeName, uid };
  const csiNode = (await readCsiNode(context, signal)) ?? (await createForNode(context, identity, signal));
  const adopted = setOwner(csiNode, identity);
  return { node, csiNode: adopted === undefined ? csiNode : await replace(context, adopted, signal) };
}

/** Returns undefined when there is none. */
export async function readCsiNode(
  context: PublishContext,
  signal: AbortSignal,
): Promise<CSINode | undefined> {
  const { api, nodeName } = context;
  return await ifFound(
    callApi(context, signal, 'get csinode', (options) => api.get(csiNodeKind, nodeName, options)),
  );
}

async function createForNode(
  context: PublishContext,
  node: NodeIdentity,
  signal: AbortSignal,
): Promise<CSINode> {
  const made = createCsiNode(node);
  return await callApi(context, signal, 'create csinode', (options) =>
    context.api.create(csiNodeKind, made, options),
  );
}

/** Writes the driver into both objects and returns their new state. Rejects with a TopologyConflict, or as the API does. */
export async function publishDriver(
  context: PublishContext,
  stored: StoredObjects,
  driver: CsiDriver,
  signal: AbortSignal,
): Promise<StoredObjects> {
  let { node, csiNode } = stored;
  const change = computeAddition(node, driver);
  if (change !== undefined) node = await patchNode(context, node, change, signal);
  for (let writes = 0; writes < maxWrites; writes += 1) {
    const next = putDriver(csiNode, driver);
    if (next === undefined) return { node, csiNode };
    csiNode = await replace(context, next, signal);
  }
  if (putDriver(csiNode, driver) !== undefined)
    throw new Error(`the API server did not store the entry of ${driver.name} in the CSINode`);
  return { node, csiNode };
}

/**
 * Removes drivers that have gone from both objects, first from the CSINode: then the scheduler places nothing for them any
 * more.
 */
export async function withdrawDrivers(
  context: PublishContext,
  stored: StoredObjects,
  gone: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<StoredObjects> {
  const next = removeDrivers(stored.csiNode, gone);
  const csiNode = next === undefined ? stored.csiNode : await replace(context, next, signal);
  const change = computeRemoval(stored.node, gone);
  return {
    csiNode,
    node: change === undefined ? stored.node : await patchNode(context, stored.node, change, signal),
  };
}

/** Lists the names of the drivers in either object. */
export function listDriverNames({ node, csiNode }: StoredObjects): ReadonlySet<string> {
  return new Set([...readNodeIds(node).keys(), ...csiNode.spec.drivers.map(({ name }) => name)]);
}

/** Fails with a conflict when the Node has changed since: its one annotation holds the ids of all drivers. */
async function patchNode(
  context: PublishContext,
  node: Node,
  change: MetadataChange,
  signal: AbortSignal,
): Promise<Node> {
  const { uid, resourceVersion } = node.metadata ?? {};
  const body = { metadata: { uid, resourceVersion, ...change } };
  return await callApi(context, signal, 'patch node', (options) =>
    context.api.patch(nodeKind, context.nodeName, body, { ...options, as: 'merge' }),
  );
}

async function replace(context: PublishContext, next: CSINode, signal: AbortSignal): Promise<CSINode> {
  return await callApi(context, signal, 'update csinode', (options) =>
    context.api.replace(csiNodeKind, next, options),
  );
}

async function callApi<T>(
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

/** Whether a concurrent write was faster: a try with newly read objects may succeed. */
export function isRace(error: unknown): boolean {
  return error instanceof StatusError && races.includes(error.reason);
}

/** Whether the error is about this driver, so that an immediate retry does not help. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof TopologyConflict || (error instanceof StatusError && refusals.includes(error.reason))
  );
}
