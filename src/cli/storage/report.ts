import type { CheckReport, DefragReport, StoreStats } from '../../apiserver/storage-admin/index.ts';

/** Sizes as people read them: 1536 is `1.5 KiB`. */
export function shownBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes;
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

/** `origin`: how the store came to be, where that is worth telling. */
export function shownStats(
  stats: StoreStats & { noRoom?: string | null },
  origin: string | undefined,
): string {
  const { revision, compacted, objects, objectBytes, sizes, noRoom } = stats;
  const disk = [
    `database ${shownBytes(sizes.database)} (${shownBytes(sizes.free)} free)`,
    `log ${shownBytes(sizes.log)}`,
    `reserve ${shownBytes(sizes.reserve)}`,
  ];
  const lines = [
    ['store', stats.file],
    ['group suffix', stats.groupSuffix],
    ...(origin === undefined ? [] : [['origin', origin]]),
    ['revision', `${revision}, readable from ${compacted}`],
    ['objects', `${objects} (${shownBytes(objectBytes)})`],
    ['history', shownHistory(stats.history)],
    ['on disk', disk.join(', ')],
    ...(noRoom ? [['writes', `refused for want of room: ${noRoom}`]] : []),
  ];
  return `${lines.map(([name = '', value]) => `${name.padEnd(13)} ${value}\n`).join('')}\n${shownPrefixes(stats)}`;
}

function shownHistory(
  history: StoreStats['history'] & { windowMs?: number; keptMs?: number; cuts?: number },
): string {
  const { bytes, limitBytes, windowMs, keptMs, cuts = 0 } = history;
  const size =
    limitBytes === null ? shownBytes(bytes) : `${shownBytes(bytes)} of at most ${shownBytes(limitBytes)}`;
  if (windowMs === undefined || keptMs === undefined) return shownBytes(bytes);
  const time = `${Math.round(keptMs / 1000)} s of ${Math.round(windowMs / 1000)} s`;
  return cuts === 0 ? `${size}, ${time}` : `${size}, ${time}, cut ${cuts} times because of its size`;
}

function shownPrefixes({ prefixes }: StoreStats): string {
  const rows = [
    ['PREFIX', 'OBJECTS', 'SIZE'],
    ...prefixes.map(({ prefix, objects, bytes }) => [
      prefix || '(other)',
      String(objects),
      shownBytes(bytes),
    ]),
  ];
  const width = Math.max(...rows.map(([prefix = '']) => prefix.length));
  return rows
    .map(([prefix = '', objects = '', size]) => `${prefix.padEnd(width)}  ${objects.padStart(8)}  ${size}\n`)
    .join('');
}

export function shownCheck({ file, revision, objects, rows, problems }: CheckReport): string {
  const looked = `${objects} objects, ${rows} rows, revision ${revision}`;
  if (problems.length === 0) return `the store ${file} is whole: ${looked}\n`;
  return `${problems.map((problem) => `${problem}\n`).join('')}the store ${file} is damaged: ${looked}\n`;
}

export function shownDefrag({ file, beforeBytes, afterBytes }: DefragReport): string {
  const sizes = `${shownBytes(beforeBytes)} before, ${shownBytes(afterBytes)} now`;
  return `the store ${file} gave back ${shownBytes(Math.max(0, beforeBytes - afterBytes))}: ${sizes}\n`;
}
