import type { Pod } from '../../../api/index.ts';
import type { podList } from './pod-list.ts';

type Listed = ReturnType<typeof podList>;

/**
 * Joins the running pods with those meant for the node: a pod that is both has its specification from the source and its
 * status from the runtime. Other running pods come last.
 */
export function mergeKnownPods(running: Listed, known: readonly Pod[]) {
  const byUid = new Map(running.items.map((item) => [item.metadata.uid, item]));
  const items = known.map(({ metadata, spec, status }) => {
    const item = byUid.get(metadata?.uid ?? '');
    byUid.delete(metadata?.uid ?? '');
    return { metadata, spec, status: isFromAgent(status) ? status : (item?.status ?? status) };
  });
  return { ...running, items: [...items, ...byUid.values()] };
}

/** The agent that runs a pod knows more of it than its runtime does. */
function isFromAgent(status: Pod['status']): boolean {
  return status?.startTime !== undefined;
}
