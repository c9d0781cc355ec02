import type { Change, Comparison, Difference, FileChange, ProcessChange, ProcessFile } from './comparison.ts';
import type { ArchiveContents, ContainerFacts, ProcessFacts } from './contents.ts';

/**
 * Compares a checkpoint with a later one. Of the environment it lists names only; changed values are found only when both
 * archives were read with values.
 */
export function compareArchives(before: ArchiveContents, after: ArchiveContents): Comparison {
  const facts = listChangedFacts(before, after);
  const processes = compareProcesses(before.processes, after.processes);
  const files = {
    opened: listFilesOnlyIn(after.processes, before.processes),
    closed: listFilesOnlyIn(before.processes, after.processes),
  };
  const mounts = computeDifference(mapMounts(before), mapMounts(after));
  const environment = computeDifference(mapVariables(before), mapVariables(after));
  const annotations = computeDifference(toMap(before.annotations), toMap(after.annotations));
  const changedFiles = {
    count: { old: before.changedFiles.files, new: after.changedFiles.files },
    bytes: { old: before.changedFiles.bytes, new: after.changedFiles.bytes },
    files: listChangedPaths(before, after),
  };
  const log = { old: before.logBytes, new: after.logBytes };
  const lists = [
    facts,
    ...Object.values(processes),
    ...Object.values(files),
    ...[mounts, environment, annotations].flatMap((each) => Object.values(each)),
    changedFiles.files,
  ];
  const counts = [changedFiles.count, changedFiles.bytes, log];
  const same = compareIdentity(before.container, after.container);
  return {
    same,
    facts,
    processes,
    files,
    mounts,
    environment,
    annotations,
    changedFiles,
    log,
    differs:
      same === 'none' ||
      lists.some((list) => list.length > 0) ||
      counts.some((each) => each.old !== each.new),
    notes: [...before.notes.map((note) => `old: ${note}`), ...after.notes.map((note) => `new: ${note}`)],
  };
}

function compareIdentity(before: ContainerFacts, after: ContainerFacts): Comparison['same'] {
  if (before.id !== '' && before.id === after.id) return 'container';
  const names = ({ namespace, pod, podUid, name }: ContainerFacts) =>
    [namespace, pod, podUid, name].join('\0');
  return before.podUid !== '' && names(before) === names(after) ? 'pod' : 'none';
}

function listChangedFacts(before: ArchiveContents, after: ArchiveContents): Change<string>[] {
  const facts = ({ container, criu }: ArchiveContents): [string, string][] => [
    ['container', [container.namespace, container.pod, container.name].join('/')],
    ['container id', container.id],
    ['pod uid', container.podUid],
    ['image', container.image],
    ['image reference', container.imageRef],
    ['runtime', container.runtime],
    ['architecture', container.architecture],
    ['criu', criu.version],
    ['version of the images', String(criu.imageVersion)],
  ];
  const later = new Map(facts(after));
  return facts(before).flatMap(([what, old]) => {
    const now = later.get(what) ?? '';
    return old === now ? [] : [{ what, old, new: now }];
  });
}

/** The same pid with another program is another process. */
const composeKey = ({ pid, comm }: ProcessFacts): string => `${pid} ${comm}`;

function compareProcesses(
  before: readonly ProcessFacts[],
  after: readonly ProcessFacts[],
): Comparison['processes'] {
  const earlier = new Map(before.map((each) => [composeKey(each), each]));
  const later = new Map(after.map((each) => [composeKey(each), each]));
  return {
    started: after.filter((each) => !earlier.has(composeKey(each))),
    ended: before.filter((each) => !later.has(composeKey(each))),
    changed: after.flatMap((each) => {
      const old = earlier.get(composeKey(each));
      return old === undefined ? [] : compareProcess(old, each);
    }),
  };
}

function compareProcess(old: ProcessFacts, now: ProcessFacts): ProcessChange[] {
  const pair = <T>(name: string, before: T, after: T) =>
    before === after ? {} : { [name]: { old: before, new: after } };
  const changes = {
    ...pair('state', old.state, now.state),
    ...pair('threads', old.threads, now.threads),
    ...pair('virtualBytes', old.memory.virtualBytes, now.memory.virtualBytes),
    ...pair('privateBytes', old.memory.privateBytes, now.memory.privateBytes),
    ...pair('sharedBytes', old.memory.sharedBytes, now.memory.sharedBytes),
  };
  return Object.keys(changes).length === 0 ? [] : [{ pid: now.pid, comm: now.comm, ...changes }];
}

/** The files of processes that are in both archives only: those of the others come and go with their process. */
function listFilesOnlyIn(these: readonly ProcessFacts[], others: readonly ProcessFacts[]): ProcessFile[] {
  const known = new Set(others.flatMap(listFiles).map(composeFileKey));
  const lasting = new Set(others.map(composeKey));
  return these
    .filter((each) => lasting.has(composeKey(each)))
    .flatMap(listFiles)
    .filter((file) => !known.has(composeFileKey(file)));
}

const listFiles = ({ pid, comm, files }: ProcessFacts): ProcessFile[] =>
  files.map((file) => ({ pid, comm, ...file }));

const composeFileKey = ({ pid, comm, fd, kind, name, state = '' }: ProcessFile): string =>
  [pid, comm, fd, kind, name, state].join('\0');

const toMap = (record: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(record));

const mapVariables = ({ environment }: ArchiveContents): ReadonlyMap<string, string> =>
  new Map(environment.map(({ name, value = '' }) => [name, value]));

function mapMounts({ mounts }: ArchiveContents): ReadonlyMap<string, string> {
  return new Map(
    mounts.map(({ mountpoint, type, source, root, readOnly }) => [
      mountpoint,
      [type, source, root, readOnly].join('\0'),
    ]),
  );
}

function computeDifference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Difference {
  return {
    added: [...after.keys()].filter((key) => !before.has(key)),
    removed: [...before.keys()].filter((key) => !after.has(key)),
    changed: [...after]
      .filter(([key, value]) => before.has(key) && before.get(key) !== value)
      .map(([key]) => key),
  };
}

/** Sorted by growth, the largest first. */
function listChangedPaths(before: ArchiveContents, after: ArchiveContents): FileChange[] {
  const [old, now] = [mapSizes(before), mapSizes(after)];
  const bytes = (size: number | 'removed' | undefined) => (typeof size === 'number' ? size : 0);
  const grown = (path: string) => bytes(now.get(path)) - bytes(old.get(path));
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => old.get(path) !== now.get(path))
    .sort((a, b) => grown(b) - grown(a) || (a < b ? -1 : 1))
    .map((path) => {
      const [was, is] = [old.get(path), now.get(path)];
      return { path, ...(was === undefined ? {} : { old: was }), ...(is === undefined ? {} : { new: is }) };
    });
}

function mapSizes({ changedFiles }: ArchiveContents): ReadonlyMap<string, number | 'removed'> {
  const sizes = new Map<string, number | 'removed'>();
  for (const { path, bytes } of changedFiles.largest) sizes.set(path, bytes);
  for (const path of changedFiles.removed) sizes.set(path, 'removed');
  return sizes;
}
