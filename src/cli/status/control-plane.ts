import type { Node, NodeCondition, Pod } from '../../api/index.ts';
import { nodeKind, podKind } from '../../api/index.ts';
import { tryParseRecord } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { formatBytes, formatRoughDuration } from '../terminal/text.ts';
import type { Finding } from './report.ts';

/** For one request. */
const timeoutMs = 5000;

/** Whether it is ready to serve. Rejects if it cannot be reached. */
export async function inspectServer(client: ApiClient, signal: AbortSignal): Promise<Finding> {
  const part = 'control plane';
  const get = (path: string) => client.request({ method: 'GET', path, timeoutMs, signal });
  const { code, body } = await get('/readyz?verbose');
  const { gitVersion = 'of an unknown version' } = tryParseRecord((await get('/version')).body) ?? {};
  if (code === 200) return { part, state: 'ok', found: `${client.server}, ${String(gitVersion)}` };
  if (code === 403)
    return {
      part,
      state: 'unknown',
      found: `${client.server} does not allow this user to ask for its state`,
    };
  const failed = [...body.matchAll(/^\[-\](\S+)/gm)].map(([, name]) => name);
  return {
    part,
    state: 'failed',
    found: `it is not ready: ${failed.join(', ') || code}`,
    mend: 'nodeward doctor',
  };
}

/** What the conditions of a node say. */
export function inspectNode(node: Node, nowMs: number): Finding {
  const part = 'node';
  const { name = '' } = node.metadata ?? {};
  const conditions = node.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const mend = `nodeward history ${name}`;
  if (ready === undefined)
    return { part, state: 'failed', found: `${name} has never reported its state`, mend };
  if (ready.status !== 'True')
    return {
      part,
      state: 'failed',
      found: `${name} is not ready ${describe(ready, nowMs)}`,
      mend: `nodeward doctor; ${mend}`,
    };
  const troubles = conditions.filter(({ type, status }) => type !== 'Ready' && status === 'True');
  const { containerRuntimeVersion: runtime = 'an unknown runtime' } = node.status?.nodeInfo ?? {};
  const found = `${name} is ready for ${sinceOf(ready, nowMs)}, with ${runtime}`;
  if (troubles.length === 0) return { part, state: 'ok', found };
  const names = troubles.map((each) => `${each.type} ${describe(each, nowMs)}`);
  return { part, state: 'warning', found: `${name}: ${names.join('; ')}`, mend };
}

function describe(condition: NodeCondition, nowMs: number): string {
  const { reason = '', message = '' } = condition;
  return `since ${sinceOf(condition, nowMs)}: ${[reason, message].filter((text) => text !== '').join(': ')}`;
}

const sinceOf = ({ lastTransitionTime }: NodeCondition, nowMs: number): string =>
  formatRoughDuration(nowMs - Date.parse(lastTransitionTime ?? ''));

/** The pods of a node, by what they do. */
export async function inspectPods(client: ApiClient, node: string, signal: AbortSignal): Promise<Finding> {
  const fieldSelector = `spec.nodeName=${node}`;
  const { items } = await client.list(podKind, { fieldSelector, signal });
  const counts = new Map<string, number>();
  for (const pod of items) counts.set(stateOf(pod), (counts.get(stateOf(pod)) ?? 0) + 1);
  const found = [...counts].map(([state, count]) => `${count} ${state}`).join(', ') || 'none';
  const isWrong = ['failed', 'not ready'].some((state) => counts.has(state));
  const mend = `kubectl get pods -A --field-selector ${fieldSelector}`;
  return isWrong ? { part: 'pods', state: 'warning', found, mend } : { part: 'pods', state: 'ok', found };
}

function stateOf({ status }: Pod): string {
  const { phase = 'Pending', conditions = [] } = status ?? {};
  if (phase !== 'Running') return phase.toLowerCase();
  return conditions.some(({ type, status: is }) => type === 'Ready' && is === 'False')
    ? 'not ready'
    : 'running';
}

/** The store of the control plane; only administrators may look at it, and only nodeward's has this page. */
export async function inspectStore(client: ApiClient, signal: AbortSignal): Promise<Finding> {
  const part = 'store';
  const { code, body } = await client.request({ method: 'GET', path: '/storage/stats', timeoutMs, signal });
  if (code !== 200) return { part, state: 'unknown', found: `the control plane answers ${code}` };
  const { objects, revision, noRoom, sizes } = tryParseRecord(body) ?? {};
  if (typeof noRoom === 'string')
    return {
      part,
      state: 'failed',
      found: `no writes: ${noRoom}`,
      mend: 'free space on its disk, then: nodeward storage stats',
    };
  const database = Number(Object(sizes)['database']);
  const size = Number.isFinite(database) ? `, ${formatBytes(database)}` : '';
  return { part, state: 'ok', found: `${String(objects)} objects, revision ${String(revision)}${size}` };
}

/** The node of that name; else the only one, or the one that is named like this machine. */
export async function findNode(
  client: ApiClient,
  { name, local, signal }: { name: string | undefined; local: string; signal: AbortSignal },
): Promise<Node | undefined> {
  if (name !== undefined) return await client.get(nodeKind, name, { signal });
  const { items } = await client.list(nodeKind, { signal });
  return items.length === 1 ? items[0] : items.find(({ metadata }) => metadata?.name === local);
}
