import type { Connection } from '../../runtime/index.ts';
import { hasSocket, RuntimeService } from '../../runtime/index.ts';

/**
 * The uids of the pods of which the runtime has anything; `none` where this machine has no runtime, and `unknown` while the
 * one that it has does not answer.
 */
export type RuntimePods = ReadonlySet<string> | 'none' | 'unknown';

/** As node agents label sandboxes and containers. */
const uidLabel = 'io.kubernetes.pod.uid';
const deadlineMs = 10_000;

/** Never rejects. `endpoints`: those that the connection uses. */
export async function readRuntimePods(
  connection: Connection,
  endpoints: readonly string[],
  cancel: AbortSignal,
): Promise<RuntimePods> {
  if (!(await hasSocket(endpoints))) return 'none';
  const { listPodSandbox, listContainers } = RuntimeService.method;
  const within = { deadlineMs, cancel };
  try {
    const [sandboxes, containers] = await Promise.all([
      connection.call(listPodSandbox, {}, within),
      connection.call(listContainers, {}, within),
    ]);
    const named = sandboxes.items.flatMap(({ metadata }) => (metadata === undefined ? [] : [metadata.uid]));
    const labelled = [...sandboxes.items, ...containers.containers].map(
      ({ labels }) => labels[uidLabel] ?? '',
    );
    return new Set([...named, ...labelled]);
  } catch {
    return 'unknown'; // the node's status says why
  }
}
