import { basename, join } from 'node:path';
import { formatBytes, formatList } from '../format.ts';
import type { Host } from '../host.ts';

/** Where pods leave files on the disks of the node. */
export interface PodFolders {
  /** ROOT/pods: a folder for each, by uid. */
  readonly podsDir: string;
  /** A folder for each: `NAMESPACE_NAME_UID`. */
  readonly podLogsDir: string;
}

interface Usage {
  readonly name: string;
  readonly volumeBytes: number;
  readonly logBytes: number;
}

/** Of each folder; their paths must fit on a command line. */
const maxPods = 500;
const maxNamed = 3;
/** It looks at every file: what is not known by then is left out of the report. */
const timeoutMs = 5000;

/**
 * Which pods fill the disks most, with their emptyDirs and their logs, in words; empty where that is not found out in time. What is
 * mounted below a pod is not counted: it is on other disks, or in memory.
 */
export async function describePodUsage(
  host: Host,
  { podsDir, podLogsDir }: PodFolders,
  signal: AbortSignal,
): Promise<string> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const [volumes, logs] = await Promise.all(
      [podsDir, podLogsDir].map((folder) => measureEntries(host, folder, within)),
    );
    const largest = combine(volumes ?? new Map(), logs ?? new Map())
      .filter(({ volumeBytes, logBytes }) => volumeBytes + logBytes >= minBytes)
      .map(describeUsage);
    return largest.length === 0 ? '' : `; filled most by the pods ${formatList(largest, maxNamed)}`;
  } catch {
    signal.throwIfAborted();
    return '';
  }
}

/** Less is not why a disk is full. */
const minBytes = 1024 * 1024;

function describeUsage({ name, volumeBytes, logBytes }: Usage): string {
  return `${name} (volumes ${formatBytes(volumeBytes)}, logs ${formatBytes(logBytes)})`;
}

/** The largest first. */
function combine(volumes: ReadonlyMap<string, number>, logs: ReadonlyMap<string, number>): Usage[] {
  const found = new Map<string, Usage>();
  for (const [uid, volumeBytes] of volumes) found.set(uid, { name: uid, volumeBytes, logBytes: 0 });
  for (const [folder, logBytes] of logs) {
    const [namespace = '', name = '', uid = ''] = folder.split('_');
    const { volumeBytes = 0 } = found.get(uid) ?? {};
    found.set(uid, { name: `${namespace}/${name}`, volumeBytes, logBytes });
  }
  const sizeOf = ({ volumeBytes, logBytes }: Usage) => volumeBytes + logBytes;
  return [...found.values()].sort((a, b) => sizeOf(b) - sizeOf(a));
}

/** In bytes on the disk, by the names of the entries. */
async function measureEntries(
  host: Host,
  folder: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const looked = await host.inspectPath({ path: folder, entries: maxPods }, signal);
  const entries = 'fault' in looked ? [] : (looked.found.entries ?? []);
  const paths = entries.filter(({ kind }) => kind === 'folder').map(({ name }) => join(folder, name));
  if (paths.length === 0) return new Map();
  const result = await host.exec('du', ['-xsk', '--', ...paths], signal);
  const lines = (result?.output ?? '').split('\n').map((line) => /^(\d+)\t(.+)$/.exec(line));
  return new Map(
    lines.flatMap((match): [string, number][] =>
      match?.[2] === undefined ? [] : [[basename(match[2]), Number(match[1]) * 1024]],
    ),
  );
}
