import type { Change, Comparison, Difference, FileChange, ProcessChange, ProcessFile } from './comparison.ts';
import type { ArchiveContents, ContainerFacts, ProcessFacts } from './contents.ts';

/**
 * What changed from one checkpoint to a later one. Of the environment it tells names; changed values are seen only when
 * both archives were read with them.
 */
export function compareArchives(before: ArchiveContents, after: ArchiveContents): Comparison {
  const facts = changedFacts(before, after);
  const processes = changedProcesses(before.processes, after.processes);
  const files = {
    opened: filesOnlyIn(after.processes, before.processes),
    closed: filesOnlyIn(before.processes, after.processes),
  };
  const mounts = difference(mountsIn(before), mountsIn(after));
  const environment = difference(variablesIn(before), variablesIn(after));
  const annotations = difference(entries(before.annotations), entries(after.annotations));
  const changedFiles = {
    count: { old: before.changedFiles.files, new: after.changedFiles.files },
    bytes: { old: before.changedFiles.bytes, new: after.changedFiles.bytes },
    files: changedPaths(before, after),
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
  const same = sameness(before.container, after.container);
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

function sameness(before: ContainerFacts, after: ContainerFacts): Comparison['same'] {
  if (before.id !== '' && before.id === after.id) return 'container';
  const names = ({ namespace, pod, podUid, name }: ContainerFacts) =>
    [namespace, pod, podUid, name].join('\0');
  return before.podUid !== '' && names(before) === names(after) ? 'pod' : 'none';
}

function changedFacts(before: ArchiveContents, after: ArchiveContents): Change<string>[] {
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

/** A number that stands for another program now is another process. */
const keyOf = ({ pid, comm }: ProcessFacts): string => `${pid} ${comm}`;

function changedProcesses(
  before: readonly ProcessFacts[],
  after: readonly ProcessFacts[],
): Comparison['processes'] {
  const earlier = new Map(before.map((each) => [keyOf(each), each]));
  const later = new Map(after.map((each) => [keyOf(each), each]));
  return {
    started: after.filter((each) => !earlier.has(keyOf(each))),
    ended: before.filter((each) => !later.has(keyOf(each))),
    changed: after.flatMap((each) => {
      const old = earlier.get(keyOf(each));
      return old === undefined ? [] : changeOf(old, each);
    }),
  };
}

function changeOf(old: ProcessFacts, now: ProcessFacts): ProcessChange[] {
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

/** Of processes that are in both: what others had open goes and comes with them. */
function filesOnlyIn(these: readonly ProcessFacts[], others: readonly ProcessFacts[]): ProcessFile[] {
  const known = new Set(others.flatMap(filesOf).map(fileKey));
  const lasting = new Set(others.map(keyOf));
  return these
    .filter((each) => lasting.has(keyOf(each)))
    .flatMap(filesOf)
    .filter((file) => !known.has(fileKey(file)));
}

const filesOf = ({ pid, comm, files }: ProcessFacts): ProcessFile[] =>
  files.map((file) => ({ pid, comm, ...file }));

const fileKey = ({ pid, comm, fd, kind, name, state = '' }: ProcessFile): string =>
  [pid, comm, fd, kind, name, state].join('\0');

const entries = (record: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(record));

const variablesIn = ({ environment }: ArchiveContents): ReadonlyMap<string, string> =>
  new Map(environment.map(({ name, value = '' }) => [name, value]));

function mountsIn({ mounts }: ArchiveContents): ReadonlyMap<string, string> {
  return new Map(
    mounts.map(({ mountpoint, type, source, root, readOnly }) => [
      mountpoint,
      [type, source, root, readOnly].join('\0'),
    ]),
  );
}

function difference(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Difference {
  return {
    added: [...after.keys()].filter((key) => !before.has(key)),
    removed: [...before.keys()].filter((key) => !after.has(key)),
    changed: [...after]
      .filter(([key, value]) => before.has(key) && before.get(key) !== value)
      .map(([key]) => key),
  };
}

/** What grew most comes first. */
function changedPaths(before: ArchiveContents, after: ArchiveContents): FileChange[] {
  const [old, now] = [sizesIn(before), sizesIn(after)];
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

function sizesIn({ changedFiles }: ArchiveContents): ReadonlyMap<string, number | 'removed'> {
  const sizes = new Map<string, number | 'removed'>();
  for (const { path, bytes } of changedFiles.largest) sizes.set(path, bytes);
  for (const path of changedFiles.removed) sizes.set(path, 'removed');
  return sizes;
}
