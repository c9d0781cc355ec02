import type { FolderDiff, FolderEntry, FolderView } from './types.ts';

/** What is different between two views; undefined where nothing is. */
export function difference(before: FolderView | undefined, view: FolderView): FolderDiff | undefined {
  const earlier: ReadonlyMap<string, FolderEntry> = before?.entries ?? new Map();
  const now = [...view.entries.values()];
  const added = now.filter(({ path }) => !earlier.has(path));
  const changed = now.filter((entry) => isAnother(earlier.get(entry.path), entry));
  const removed = [...earlier.values()].filter(({ path }) => !view.entries.has(path));
  const same = added.length + changed.length + removed.length === 0;
  if (same && before?.problem === view.problem && before?.by === view.by) return undefined;
  return { view, added, changed, removed };
}

function isAnother(before: FolderEntry | undefined, now: FolderEntry): boolean {
  return before !== undefined && (before.identity !== now.identity || before.kind !== now.kind);
}
