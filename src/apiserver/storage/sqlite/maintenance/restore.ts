/**
 * A store made of a snapshot. It is written beside its place and put there when it is whole. So in its place there is at
 * any time the store from before or the new one, also after a power cut; and never is one replaced that a server uses:
 *
 *     store.sqlite (if any)  ──locked, linked──►  store.sqlite.before-restore-TIME
 *     store.sqlite.restoring ─────renamed──────►  store.sqlite
 */
import { chown, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, syncFolder } from '../../../../base/index.ts';
import type { Revision, Stored } from '../../types.ts';
import { StorageError } from '../../types.ts';
import { databaseName, makeFolder } from '../folder.ts';
import { Database } from '../writer/database.ts';
import { damagedRow, openError } from '../writer/errors.ts';

export interface RestoreOptions {
  readonly folder: string;
  readonly groupSuffix: string;
  /** Of the snapshot. */
  readonly revision: Revision;
  /** Whether a store with objects, or a damaged one, is kept aside; else it is refused. */
  readonly force: boolean;
  /** For the name of what is kept aside. */
  readonly now: Date;
  /** In any order; a key twice, or a revision, is refused. */
  readonly objects: AsyncIterable<Stored>;
  /** Looks at the new store, read from disk, before it takes its place; when it rejects, nothing has changed. */
  readonly check?: ((written: Iterable<Stored>) => Promise<void>) | undefined;
}

export interface Restored {
  readonly file: string;
  readonly revision: Revision;
  readonly objects: number;
  /** Where the store went that was there before. */
  readonly keptAside: string | undefined;
}

/** Revisions given out after the snapshot was taken, or by a store that is lost, are left behind by so much. */
const leap = 1_000_000_000;
const rowsPerTransaction = 1_000;

/**
 * Makes a store of these objects, with a revision beyond all that were ever given out and no history: whoever goes on
 * from an older one is told that it is gone. What `objects` throws comes out of here, and nothing has changed then.
 * Rejects with a StorageError: `locked` while a server uses the store.
 */
export async function restoreStore(options: RestoreOptions): Promise<Restored> {
  const { folder, force } = options;
  await makeFolder(folder);
  const file = join(folder, databaseName);
  const before = await lookAt(file);
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

/** What is in the place; throws when a server uses it. */
async function lookAt(file: string): Promise<Before> {
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

/** Everything in a store that nobody else uses, in order. Throws a StorageError when a row is not what was written. */
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

/** A server may run as another user than who restores. */
async function giveToOwnerOf(folder: string, file: string): Promise<void> {
  const { uid, gid } = await stat(folder);
  if (process.getuid?.() === 0 && uid !== 0) await chown(file, uid, gid);
}

/** Puts the new store in its place; answers where what was there is now, if it was worth keeping. */
async function publish(
  fresh: string,
  file: string,
  what: Before['what'],
  now: Date,
): Promise<string | undefined> {
  const aside = `${file}.before-restore-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  if (what === 'nothing' || what === 'empty') {
    if (what === 'empty') await remove(file);
    await putWhereNothingIs(fresh, file);
    return undefined;
  }
  if (what === 'objects') {
    using database = openAny(file); // no server can use it while another one takes its place
    database.leaveOneFile();
    await keep(file, aside);
    await rename(fresh, file);
    return aside;
  }
  await keep(file, aside);
  await rename(`${file}-wal`, `${aside}-wal`).catch(unlessMissing);
  await syncFolder(dirname(file)); // what belonged to the old file must never be taken for a part of the new one
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

/** Never in the place of a store that a server has just made. */
async function putWhereNothingIs(fresh: string, file: string): Promise<void> {
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
