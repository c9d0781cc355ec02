import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkName, isRecord } from '../../../api/index.ts';
import { describeError, errorCode, readRegularFile } from '../../../base/index.ts';
import type { Target } from '../errors.ts';

/** What must be known of a checkpoint under way to put its container right after a crash. */
export interface Journal extends Target {
  /** The runtime's id of the container. */
  readonly id: string;
  readonly podUid: string;
  /** Who asked for it. */
  readonly requester: string;
  /** RFC 3339. */
  readonly startedAt: string;
  /** The kernel's id of this boot: no container outlives it. */
  readonly bootId: string;
}

/** A journal that can be read and makes no sense: nothing is known from it, now or later. */
export class DamagedJournal extends Error {
  override readonly name = 'DamagedJournal';
}

/** A draft's folder is `.inflight-` and something random; whatever else is in the folder is left alone. */
export const draftPrefix = '.inflight-';
/** The archive in the making, beside the journal. */
export const archiveFile = 'archive.tar';
export const journalFile = 'journal.json';
const journalLimitBytes = 16 * 1024;
/** Of what others choose freely, only for people to read. */
const textLimit = 512;

/** What a damaged journal is called when it is kept beside the archives. */
export function damagedName(draft: string): string {
  return `damaged-journal-${draft.slice(draftPrefix.length)}.json`;
}

/**
 * Rejects what readJournal would not take: then nothing may be begun. Appears as a whole, and is not forced to the disk:
 * a power cut ends the container as well.
 */
export async function writeJournal(draft: string, journal: Journal): Promise<void> {
  const path = join(draft, journalFile);
  const [podUid, requester] = [journal.podUid.slice(0, textLimit), journal.requester.slice(0, textLimit)];
  const text = `${JSON.stringify({ ...journal, podUid, requester })}\n`;
  parseJournal(text, path);
  const aside = `${path}.tmp`;
  await writeFile(aside, text, { flag: 'wx', mode: 0o600 });
  await rename(aside, path);
}

/**
 * undefined when the draft has none: then nothing was begun. Throws a DamagedJournal when there is one that
 * makes no sense, and another error, of the system, when it cannot be read now: it may tell all later.
 */
export async function readJournal(draft: string): Promise<Journal | undefined> {
  const path = join(draft, journalFile);
  const bytes = await readBytes(path);
  return bytes && parseJournal(bytes.toString('utf8'), path);
}

async function readBytes(path: string): Promise<Buffer | undefined> {
  try {
    return await readRegularFile(path, { limitBytes: journalLimitBytes, noFollow: true });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code !== undefined) throw error;
    throw new DamagedJournal(describeError(error), { cause: error }); // too long, or no regular file
  }
}

/** Names of the drafts in `folder`, which is made when missing. */
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
