/**
 * Creates a store from a snapshot. It is written beside its place and moved there when it is complete. So at any time its
 * place holds either the previous store or the new one, also after a power cut; a store that a server uses is never
 * replaced:
 *
 *     store.sqlite (if any)  ──locked, linked──►  store.sqlite.before-restore-TIME
 *     store.sqlite.restoring ─────renamed──────►  store.sqlite
 */
import { chown, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, syncFolder } from '../../../../base/index.ts';
import type { Revision, Stored } from '../../types.ts';
import { StorageError } from '../../types.ts';
import { databaseName, makeFolder } from '../store-folder.ts';
import { Database } from '../writer/database.ts';
import { damagedRow, openError } from '../writer/errors.ts';

export interface RestoreOptions {
  readonly folder: string;
  readonly groupSuffix: string;
  /** Of the snapshot. */
  readonly revision: Revision;
  /** Whether a store with objects, or a damaged one, is moved aside; otherwise the restore is refused. */
  readonly force: boolean;
  /** For the name of the store that is moved aside. */
  readonly now: Date;
  /** In any order; a repeated key or revision is refused. */
  readonly objects: AsyncIterable<Stored>;
  /** Called with the new store, read from disk, before it takes its place; when it rejects, nothing has changed. */
  readonly check?: ((written: Iterable<Stored>) => Promise<void>) | undefined;
}

export interface Restored {
  readonly file: string;
  readonly revision: Revision;
  readonly objects: number;
  /** Where the previous store is now. */
  readonly keptAside: string | undefined;
}

/** The new store starts this much after the known revisions, beyond those issued after the snapshot or by a lost store. */
const leap = 1_000_000_000;
const rowsPerTransaction = 1_000;

/**
 * Creates a store of these objects, without history and with a revision beyond all that were ever issued: a client that
 * continues from an older one gets the answer that it is gone. When `objects` throws, this rejects with the same error
 * and nothing has changed.
 * Rejects with a StorageError: `locked` while a server uses the store.
 */
export async function restoreStore(options: RestoreOptions): Promise<Restored> {
  const { folder, force } = options;
  await makeFolder(folder);
  const file = join(folder, databaseName);
  const before = await inspect(file);
  if (before.what === 'objects' && !force) throw occupied(file, 'it holds objects');
  if (before.what === 'damaged' && !force) throw occupied(file, 'it cannot be read');
  const revision = Math.max(options.revision, before.revision) + leap;
  const fresh = `${file}.restoring`;
  try {
    await remove(fresh);
    const objects = await writeStore(fresh, revision, options);
    await options.check?.(readStore(fresh));
    await giveToOwnerOf(folder, fresh);
    const keptAside = await publish(fresh, file, before.what, options.now);
    return { file, revision, objects, keptAside };
  } finally {
    await remove(fresh);
    await syncFolder(folder);
  }
}

interface Before {
  readonly what: 'nothing' | 'empty' | 'objects' | 'damaged';
  readonly revision: Revision;
}

/** Finds out what is in the place; throws when a server uses it. */
async function inspect(file: string): Promise<Before> {
  const facts = await stat(file).catch(unlessMissing);
  if (facts === undefined) return { what: 'nothing', revision: 0 };
  if (facts.size === 0 && (await stat(`${file}-wal`).catch(unlessMissing)) === undefined) {
    return { what: 'empty', revision: 0 };
  }
  try {
    using database = openAny(file);
    const { revision } = database.record();
    for (const head of database.heads('', ''))
      if (head.createRevision !== 0) return { what: 'objects', revision };
    return { what: 'empty', revision };
  } catch (error) {
    const problem = openError(file, error);
    if (problem.code === 'corrupt') return { what: 'damaged', revision: 0 };
    if (problem.code === 'newerFormat') return { what: 'damaged', revision: 0 };
    throw problem;
  }
}

function openAny(file: string): Database {
  return new Database({ file, groupSuffix: undefined, limitBytes: undefined });
}

async function writeStore(file: string, revision: Revision, options: RestoreOptions): Promise<number> {
  await (await open(file, 'wx', 0o600)).close();
  let written = 0;
  try {
    const { groupSuffix, now } = options;
    const origin = { how: 'restored', atMs: now.getTime() } as const;
    using database = new Database({ file, groupSuffix, limitBytes: undefined, origin });
    for await (const batch of batches(options.objects)) {
      database.transaction(() => {
        for (const { key, revision, createRevision, value } of batch) {
          database.append({ key, revision, createRevision, previousRevision: 0 }, value);
        }
      });
      written += batch.length;
      database.pages.checkpoint();
    }
    database.transaction(() => database.saveState({ revision, compacted: revision, historyBytes: 0 }));
    database.pages.checkpointAll();
  } catch (error) {
    throw error instanceof Error && 'errcode' in error ? openError(file, error) : error;
  }
  return written;
}

/** All objects of a store that no other process uses, in order. Throws a StorageError when a row is not what was written. */
function* readStore(file: string): Generator<Stored> {
  using database = openAny(file);
  for (const { key, revision, createRevision } of database.heads('', '')) {
    if (createRevision === 0) continue;
    const version = database.version(revision, key);
    if (version === undefined) throw damagedRow(file, key, revision);
    yield { key, revision, createRevision, value: version.value };
  }
}

async function* batches(objects: AsyncIterable<Stored>): AsyncGenerator<Stored[]> {
  let batch: Stored[] = [];
  for await (const object of objects) {
    batch.push(object);
    if (batch.length < rowsPerTransaction) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The server may run as another user than this process. */
async function giveToOwnerOf(folder: string, file: string): Promise<void> {
  const { uid, gid } = await stat(folder);
  if (process.getuid?.() === 0 && uid !== 0) await chown(file, uid, gid);
}

/** Moves the new store to its place. Returns where the previous one is now, if it was worth keeping. */
async function publish(
  fresh: string,
  file: string,
  what: Before['what'],
  now: Date,
): Promise<string | undefined> {
  const aside = `${file}.before-restore-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  if (what === 'nothing' || what === 'empty') {
    if (what === 'empty') await remove(file);
    await linkIntoPlace(fresh, file);
    return undefined;
  }
  if (what === 'objects') {
    using database = openAny(file); // locked, so no server can use it while the new one takes its place
    database.leaveOneFile();
    await keep(file, aside);
    await rename(fresh, file);
    return aside;
  }
  await keep(file, aside);
  await rename(`${file}-wal`, `${aside}-wal`).catch(unlessMissing);
  await syncFolder(dirname(file)); // the old log file must never be taken for a part of the new store
  await rename(fresh, file);
  return aside;
}

async function keep(file: string, aside: string): Promise<void> {
  try {
    await link(file, aside);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new StorageError('occupied', `there is a ${aside} already, and it is not replaced; try again`);
  }
}

/** Does not replace a store that a server has just created. */
async function linkIntoPlace(fresh: string, file: string): Promise<void> {
  try {
    await link(fresh, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new StorageError(
      'locked',
      `another process has made the store ${file} meanwhile; stop it and try again`,
    );
  }
}

async function remove(file: string): Promise<void> {
  for (const name of [file, `${file}-wal`, `${file}-journal`]) await rm(name, { force: true });
}

function occupied(file: string, why: string): StorageError {
  const advice = 'with --force it is kept aside under another name';
  return new StorageError('occupied', `the store ${file} is not replaced: ${why}; ${advice}`);
}

function unlessMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
  return undefined;
}
