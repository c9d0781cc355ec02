import type { CheckReport, DefragReport, StoreStats } from '../../apiserver/storage-admin/index.ts';
import type { TableResult } from '../terminal/result.ts';
import { formatBytes } from '../terminal/text.ts';

/** `origin`: how the store was created; undefined if there is nothing special about it. */
export function listPrefixes(
  stats: StoreStats & { noRoom?: string | null },
  origin: string | undefined,
): TableResult<Prefix> {
  return {
    document: stats,
    before: formatFacts(stats, origin),
    rows: stats.prefixes,
    columns: [
      { head: 'PREFIX', cell: ({ prefix }) => prefix || '(other)' },
      { head: 'OBJECTS', cell: ({ objects }) => String(objects) },
      { head: 'SIZE', cell: ({ bytes }) => formatBytes(bytes) },
      { head: 'BYTES', cell: ({ bytes }) => String(bytes), wide: true },
    ],
    empty: 'no objects\n',
    name: ({ prefix }) => prefix,
  };
}

type Prefix = StoreStats['prefixes'][number];

function formatFacts(stats: StoreStats & { noRoom?: string | null }, origin: string | undefined): string {
  const { revision, compacted, objects, objectBytes, sizes, noRoom } = stats;
  const disk = [
    `database ${formatBytes(sizes.database)} (${formatBytes(sizes.free)} free)`,
    `log ${formatBytes(sizes.log)}`,
    `reserve ${formatBytes(sizes.reserve)}`,
  ];
  const lines = [
    ['store', stats.file],
    ['group suffix', stats.groupSuffix],
    ...(origin === undefined ? [] : [['origin', origin]]),
    ['revision', `${revision}, readable from ${compacted}`],
    ['objects', `${objects} (${formatBytes(objectBytes)})`],
    ['history', formatHistory(stats.history)],
    ['on disk', disk.join(', ')],
    ...(noRoom ? [['writes', `refused for want of room: ${noRoom}`]] : []),
  ];
  return `${lines.map(([name = '', value]) => `${name.padEnd(13)} ${value}\n`).join('')}\n`;
}

function formatHistory(
  history: StoreStats['history'] & { windowMs?: number; keptMs?: number; cuts?: number },
): string {
  const { bytes, limitBytes, windowMs, keptMs, cuts = 0 } = history;
  const size =
    limitBytes === null ? formatBytes(bytes) : `${formatBytes(bytes)} of at most ${formatBytes(limitBytes)}`;
  if (windowMs === undefined || keptMs === undefined) return formatBytes(bytes);
  const time = `${Math.round(keptMs / 1000)} s of ${Math.round(windowMs / 1000)} s`;
  return cuts === 0 ? `${size}, ${time}` : `${size}, ${time}, cut ${cuts} times because of its size`;
}

export function formatCheck({ file, revision, objects, rows, problems }: CheckReport): string {
  const checked = `${objects} objects, ${rows} rows, revision ${revision}`;
  if (problems.length === 0) return `the store ${file} is whole: ${checked}\n`;
  return `${problems.map((problem) => `${problem}\n`).join('')}the store ${file} is damaged: ${checked}\n`;
}

export function formatDefrag({ file, beforeBytes, afterBytes }: DefragReport): string {
  const sizes = `${formatBytes(beforeBytes)} before, ${formatBytes(afterBytes)} now`;
  return `the store ${file} gave back ${formatBytes(Math.max(0, beforeBytes - afterBytes))}: ${sizes}\n`;
}
