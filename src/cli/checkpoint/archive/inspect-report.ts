import type { ArchiveContents, OpenFile, ProcessFacts } from '../../../agent/checkpoint/archive/index.ts';
import type { CheckpointRecord } from '../../../agent/checkpoint/index.ts';
import { harmless, shownTable } from '../../access/report.ts';
import { shownBytes } from '../../storage/report.ts';

/** What is in an archive, as people read it. */
export function shownArchive(contents: ArchiveContents, record: CheckpointRecord | undefined): string {
  const { processes, mounts, environment, annotations, changedFiles, notes } = contents;
  return [
    shownFacts(contents, record),
    section('Processes', processTable(processes)),
    section('Open files and sockets', fileTable(processes)),
    section(
      'Mounts',
      table(
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
      lines(environment.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`))),
    ),
    section('Annotations', lines(Object.entries(annotations).map(([name, value]) => `${name}=${value}`))),
    section(
      'Largest changed files',
      table(
        ['SIZE', 'PATH'],
        changedFiles.largest.slice(0, shownFiles).map(({ path, bytes }) => [shownBytes(bytes), path]),
      ),
    ),
    section('Removed files', lines(changedFiles.removed)),
    section('Not understood', lines(notes)),
  ].join('');
}

const shownFiles = 10;
const shownRows = 200;

const section = (title: string, text: string): string => (text === '' ? '' : `\n${title}\n${indented(text)}`);

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

/** The first of many. */
function lines(texts: readonly string[]): string {
  const shown = texts.slice(0, shownRows).map((text) => `${harmless(text)}\n`);
  return shown.join('') + moreThan(texts.length);
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : shownTable(head, rows.slice(0, shownRows)) + moreThan(rows.length);
}

const moreThan = (count: number): string =>
  count > shownRows ? `and ${count - shownRows} more, see --output json\n` : '';

/** `NAMESPACE/POD/CONTAINER`, as far as it is known. */
export function nameOf({ container }: ArchiveContents): string {
  const { namespace, pod, name, id } = container;
  const parts = [namespace, pod, name].filter((part) => part !== '');
  return harmless(parts.join('/') || id || 'an unknown container');
}

function shownFacts(contents: ArchiveContents, record: CheckpointRecord | undefined): string {
  const { archive, container, criu, changedFiles, logBytes } = contents;
  const runtime = [container.runtime, ...(record === undefined ? [] : [versionOf(record)])];
  const still = record === undefined || record.pausedMeasuredBy === 'none' ? criu.frozenMs : record.pausedMs;
  const facts = [
    ['container', container.id],
    ['made', container.checkpointedAt],
    ['image', container.image],
    ['image ref', container.imageRef],
    ['runtime', runtime.filter((each) => each !== '').join(', ')],
    ['criu', criu.version === '' ? '' : `${criu.version}, images of version ${criu.imageVersion}`],
    ['stood still', still === undefined ? '' : `${Math.round(still)} ms`],
    [
      'archive',
      `${shownBytes(archive.bytes)} in ${archive.files} files${archive.whole ? '' : ', not whole'}`,
    ],
    ['memory', shownBytes(archive.pagesBytes)],
    ['log', shownBytes(logBytes)],
    ['changed files', `${changedFiles.files}, ${shownBytes(changedFiles.bytes)}`],
  ];
  const shown = facts.filter(([, value]) => value !== '');
  return `Checkpoint of ${nameOf(contents)}\n\n${shown
    .map(([name = '', value = '']) => `${name.padEnd(14)} ${harmless(value)}\n`)
    .join('')}`;
}

const versionOf = ({ runtime }: CheckpointRecord): string => `${runtime.name} ${runtime.version}`.trim();

function processTable(processes: readonly ProcessFacts[]): string {
  const depths = new Map<number, number>();
  const rows = processes.map(({ pid, ppid, comm, state, threads, memory, files }) => {
    const depth = Math.min(deepest, (depths.get(ppid) ?? -1) + 1);
    depths.set(pid, depth);
    const { privateBytes, sharedBytes, heapBytes, virtualBytes } = memory;
    return [
      String(pid),
      `${'  '.repeat(depth)}${comm || '?'}`,
      state,
      String(threads),
      ...[privateBytes, sharedBytes, heapBytes, virtualBytes].map(shownBytes),
      String(files.length),
    ];
  });
  return table(['PID', 'COMMAND', 'STATE', 'THREADS', 'PRIVATE', 'SHARED', 'HEAP', 'VIRTUAL', 'FILES'], rows);
}

const deepest = 20;

function fileTable(processes: readonly ProcessFacts[]): string {
  const rows = processes.flatMap(({ pid, files }) => files.map((file) => [String(pid), ...fileCells(file)]));
  return table(['PID', 'FD', 'KIND', 'MODE', 'STATE', 'NAME'], rows);
}

export const fileCells = ({ fd, kind, mode = '', state = '', name }: OpenFile): string[] => [
  String(fd),
  kind,
  mode,
  state,
  name,
];
