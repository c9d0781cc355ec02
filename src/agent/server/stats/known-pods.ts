import type { Pod } from '../../../api/index.ts';
import type { podList } from './pod-list.ts';

type Listed = ReturnType<typeof podList>;

/**
 * What runs on the node together with what is meant for it: of a pod that does both the source tells what it shall be and
 * the runtime how it is. What runs unasked for comes last.
 */
export function withKnown(running: Listed, known: readonly Pod[]) {
  const byUid = new Map(running.items.map((item) => [item.metadata.uid, item]));
  const shown = known.map(({ metadata, spec, status }) => {
    const item = byUid.get(metadata?.uid ?? '');
    byUid.delete(metadata?.uid ?? '');
    return { metadata, spec, status: item?.status ?? status };
  });
  return { ...running, items: [...shown, ...byUid.values()] };
}
