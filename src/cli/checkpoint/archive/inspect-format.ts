import type { ArchiveContents, OpenFile, ProcessFacts } from '../../../agent/checkpoint/archive/index.ts';
import type { CheckpointRecord } from '../../../agent/checkpoint/index.ts';
import type { Paint } from '../../terminal/colour.ts';
import { withoutColour } from '../../terminal/colour.ts';
import type { Cell } from '../../terminal/table.ts';
import { formatTable } from '../../terminal/table.ts';
import { formatBytes, sanitize } from '../../terminal/text.ts';

/** The contents of an archive as text. */
export function formatArchive(contents: ArchiveContents, record: CheckpointRecord | undefined): string {
  const { processes, mounts, environment, annotations, changedFiles, notes } = contents;
  return [
    formatFacts(contents, record),
    section('Processes', formatProcesses(processes)),
    section('Open files and sockets', formatFiles(processes)),
    section(
      'Mounts',
      limitedTable(
        ['MOUNTPOINT', 'TYPE', 'MODE', 'SOURCE', 'FOLDER'],
        mounts.map(({ mountpoint, type, readOnly, source, root }) => [
          mountpoint,
          type,
          readOnly ? 'ro' : 'rw',
          source,
          root,
        ]),
      ),
    ),
    section(
      'Environment',
      formatLines(environment.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`))),
    ),
    section(
      'Annotations',
      formatLines(Object.entries(annotations).map(([name, value]) => `${name}=${value}`)),
    ),
    section(
      'Largest changed files',
      limitedTable(
        ['SIZE', 'PATH'],
        changedFiles.largest.slice(0, maxFiles).map(({ path, bytes }) => [formatBytes(bytes), path]),
      ),
    ),
    section('Removed files', formatLines(changedFiles.removed)),
    section('Not understood', formatLines(notes)),
  ].join('');
}

const maxFiles = 10;
const maxRows = 200;

const section = (title: string, text: string): string => (text === '' ? '' : `\n${title}\n${indent(text)}`);

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

/** At most `maxRows` lines. */
function formatLines(texts: readonly string[]): string {
  const lines = texts.slice(0, maxRows).map((text) => `${sanitize(text)}\n`);
  return lines.join('') + formatOmitted(texts.length);
}

/** At most `maxRows` rows; empty if there are none. */
export function limitedTable(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  paint: Paint = withoutColour,
): string {
  if (rows.length === 0) return '';
  return formatTable([head, ...rows.slice(0, maxRows)], { gap: 2, paint }) + formatOmitted(rows.length);
}

const formatOmitted = (count: number): string =>
  count > maxRows ? `and ${count - maxRows} more, see --output json\n` : '';

/** `NAMESPACE/POD/CONTAINER`, without the parts that are not known. */
export function nameOf({ container }: ArchiveContents): string {
  const { namespace, pod, name, id } = container;
  const parts = [namespace, pod, name].filter((part) => part !== '');
  return sanitize(parts.join('/') || id || 'an unknown container');
}

function formatFacts(contents: ArchiveContents, record: CheckpointRecord | undefined): string {
  const { archive, container, criu, changedFiles, logBytes } = contents;
  const runtime = [container.runtime, ...(record === undefined ? [] : [versionOf(record)])];
  const pausedMs =
    record === undefined || record.pausedMeasuredBy === 'none' ? criu.frozenMs : record.pausedMs;
  const facts = [
    ['container', container.id],
    ['made', container.checkpointedAt],
    ['image', container.image],
    ['image ref', container.imageRef],
    ['runtime', runtime.filter((each) => each !== '').join(', ')],
    ['criu', criu.version === '' ? '' : `${criu.version}, images of version ${criu.imageVersion}`],
    ['stood still', pausedMs === undefined ? '' : `${Math.round(pausedMs)} ms`],
    [
      'archive',
      `${formatBytes(archive.bytes)} in ${archive.files} files${archive.whole ? '' : ', not whole'}`,
    ],
    ['memory', formatBytes(archive.pagesBytes)],
    ['log', formatBytes(logBytes)],
    ['changed files', `${changedFiles.files}, ${formatBytes(changedFiles.bytes)}`],
  ];
  const known = facts.filter(([, value]) => value !== '');
  return `Checkpoint of ${nameOf(contents)}\n\n${known
    .map(([name = '', value = '']) => `${name.padEnd(14)} ${sanitize(value)}\n`)
    .join('')}`;
}

const versionOf = ({ runtime }: CheckpointRecord): string => `${runtime.name} ${runtime.version}`.trim();

function formatProcesses(processes: readonly ProcessFacts[]): string {
  const depths = new Map<number, number>();
  const rows = processes.map(({ pid, ppid, comm, state, threads, memory, files }) => {
    const depth = Math.min(maxDepth, (depths.get(ppid) ?? -1) + 1);
    depths.set(pid, depth);
    const { privateBytes, sharedBytes, heapBytes, virtualBytes } = memory;
    return [
      String(pid),
      `${'  '.repeat(depth)}${comm || '?'}`,
      state,
      String(threads),
      ...[privateBytes, sharedBytes, heapBytes, virtualBytes].map(formatBytes),
      String(files.length),
    ];
  });
  return limitedTable(
    ['PID', 'COMMAND', 'STATE', 'THREADS', 'PRIVATE', 'SHARED', 'HEAP', 'VIRTUAL', 'FILES'],
    rows,
  );
}

/** Of the indentation in the tree of processes. */
const maxDepth = 20;

function formatFiles(processes: readonly ProcessFacts[]): string {
  const rows = processes.flatMap(({ pid, files }) => files.map((file) => [String(pid), ...fileCells(file)]));
  return limitedTable(['PID', 'FD', 'KIND', 'MODE', 'STATE', 'NAME'], rows);
}

export const fileCells = ({ fd, kind, mode = '', state = '', name }: OpenFile): string[] => [
  String(fd),
  kind,
  mode,
  state,
  name,
];
