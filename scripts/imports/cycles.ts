import type { SourceFile } from './source-file.ts';

/**
 * The import cycles between files, one for each knot of files that import each other: the shortest way from
 * the knot's first file back to it, that file at both ends. Imports of types count too.
 */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const edges = new Map(
    files.map((file) => [
      file.path,
      file.imports.map((each) => each.target).filter((each) => each !== undefined),
    ]),
  );
  const cycles: string[][] = [];
  const reported = new Set<string>();
  for (const { path } of files) {
    if (reported.has(path)) continue;
    const cycle = shortestWayBack(path, edges);
    if (cycle === undefined) continue;
    for (const each of cycle) reported.add(each);
    cycles.push(cycle);
  }
  return cycles;
}

/** Breadth first, so the first way found is a shortest one. */
function shortestWayBack(start: string, edges: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const path of queue) {
    for (const next of edges.get(path) ?? []) {
      if (next === start) return [...wayTo(path, start, cameFrom), start];
      if (cameFrom.has(next) || !edges.has(next)) continue;
      cameFrom.set(next, path);
      queue.push(next);
    }
  }
  return undefined;
}

function wayTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [end];
  for (let at = end; at !== start; ) {
    at = cameFrom.get(at) ?? start;
    way.unshift(at);
  }
  return way;
}
