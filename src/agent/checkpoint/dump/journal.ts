import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkName, isRecord } from '../../../api/index.ts';
import { describeError, errorCode, readRegularFile } from '../../../base/index.ts';
import type { Target } from '../errors.ts';

/** What recovery must know to thaw the container of a checkpoint after a crash. */
export interface Journal extends Target {
  /** The runtime's id of the container. */
  readonly id: string;
  readonly podUid: string;
  /** The user who requested the checkpoint. */
  readonly requester: string;
  /** RFC 3339. */
  readonly startedAt: string;
  /** The kernel's id of this boot: no container outlives a boot. */
  readonly bootId: string;
}

/** A journal that can be read but is not valid: trying again will not help. */
export class DamagedJournal extends Error {
  override readonly name = 'DamagedJournal';
}

/** A draft's folder is named `.inflight-` and a random text; recovery touches nothing else. */
export const draftPrefix = '.inflight-';
/** The unfinished archive, beside the journal. */
export const archiveFile = 'archive.tar';
export const journalFile = 'journal.json';
const maxJournalBytes = 16 * 1024;
/** In characters, of texts that others choose freely and that only people read. */
const maxTextLength = 512;

/** The name under which a damaged journal is kept beside the archives. */
export function composeDamagedName(draft: string): string {
  return `damaged-journal-${draft.slice(draftPrefix.length)}.json`;
}

/**
 * Rejects a journal that readJournal would reject: then the checkpoint must not begin. The file appears atomically. It is
 * not synced to the disk, because a power failure ends the container, too.
 */
export async function writeJournal(draft: string, journal: Journal): Promise<void> {
  const path = join(draft, journalFile);
  const [podUid, requester] = [
    journal.podUid.slice(0, maxTextLength),
    journal.requester.slice(0, maxTextLength),
  ];
  const text = `${JSON.stringify({ ...journal, podUid, requester })}\n`;
  parseJournal(text, path);
  const aside = `${path}.tmp`;
  await writeFile(aside, text, { flag: 'wx', mode: 0o600 });
  await rename(aside, path);
}

/**
 * Undefined when the draft has no journal: then the container was never paused. Throws a DamagedJournal when the journal
 * is not valid, and an error of the system when it cannot be read now: then a later attempt may succeed.
 */
export async function readJournal(draft: string): Promise<Journal | undefined> {
  const path = join(draft, journalFile);
  const bytes = await readJournalBytes(path);
  return bytes && parseJournal(bytes.toString('utf8'), path);
}

async function readJournalBytes(path: string): Promise<Buffer | undefined> {
  try {
    return await readRegularFile(path, { limitBytes: maxJournalBytes, noFollow: true });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code !== undefined) throw error;
    throw new DamagedJournal(describeError(error), { cause: error }); // too long, or no regular file
  }
}

/** The names of the drafts in `folder`, which is created when missing. */
export async function listDrafts(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return (await readdir(folder)).filter((name) => name.startsWith(draftPrefix)).sort();
}

const keys = ['namespace', 'pod', 'container', 'id', 'podUid', 'requester', 'startedAt', 'bootId'] as const;

function parseJournal(text: string, path: string): Journal {
  const value = parseObject(text, path);
  const field = (key: (typeof keys)[number]): string => {
    const content = value[key];
    if (typeof content !== 'string') throw new DamagedJournal(`${path} has no ${key}`);
    return content;
  };
  const [namespace, pod, container, id] = [field('namespace'), field('pod'), field('container'), field('id')];
  const wrong = checkName('label', namespace) ?? checkName('subdomain', pod) ?? checkName('label', container);
  if (wrong !== undefined || !/^[\w.-]{1,256}$/.test(id)) {
    throw new DamagedJournal(`${path} names no container`);
  }
  const [podUid, requester, startedAt, bootId] = [
    field('podUid'),
    field('requester'),
    field('startedAt'),
    field('bootId'),
  ];
  return { namespace, pod, container, id, podUid, requester, startedAt, bootId };
}

function parseObject(text: string, path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DamagedJournal(`${path} is not JSON`, { cause: error });
  }
  if (!isRecord(value)) throw new DamagedJournal(`${path} is not a journal`);
  return value;
}
