import type { FileHandle } from 'node:fs/promises';
import { constants, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isRecord } from '../../../api/index.ts';
import { describeError, ExitError, exitCodes, tryParseJson } from '../../../base/index.ts';
import { splitLines } from '../../../client/index.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { toBytes } from '../../terminal/input.ts';

/** Longer than any line that a control plane writes; longer ones are skipped. */
const maxLineBytes = 16 * 1024 * 1024;
/** Rotated files that are read beside each named one. */
const maxRotatedFiles = 1_000;

/** A line of the log, without its end; undefined if it is too long. */
type LogLine = string | undefined;

/**
 * The lines of audit logs, with those of rotated files first. `-` is standard input. No more than a line is buffered.
 * Throws an ExitError when a file cannot be read.
 */
export async function* readLogLines(
  files: readonly string[],
  context: CommandContext,
): AsyncGenerator<LogLine> {
  for (const file of files) {
    if (file === '-') yield* splitLines(toBytes(context.stdin ?? []), maxLineBytes);
    else yield* readFiles(file);
  }
}

/** The file is opened before rotated ones are listed: if it is rotated meanwhile, it is listed, too, and recognized by its inode. */
async function* readFiles(path: string): AsyncGenerator<LogLine> {
  await using current = await openLog(path);
  const { ino } = await current.stat();
  for (const name of await listRotated(path)) {
    await using file = await openLog(name);
    if ((await file.stat()).ino !== ino) yield* readLines(file);
  }
  yield* readLines(current);
}

function readLines(file: FileHandle): AsyncGenerator<LogLine> {
  return splitLines(file.createReadStream({ autoClose: false }), maxLineBytes);
}

async function openLog(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error('it is not a regular file; pipe it in and name -');
  } catch (error) {
    const why = `the audit log ${path} cannot be read: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, why, { cause: error });
  }
}

/** `audit.log.2030-01-02T03-04-05.678Z`, oldest first. */
async function listRotated(path: string): Promise<string[]> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith(prefix) && /^\d{4}-\d\d-\d\dT[\d.-]+Z$/.test(name.slice(prefix.length)),
  );
  return names
    .sort()
    .slice(-maxRotatedFiles)
    .map((name) => join(folder, name));
}

/** A request in the audit log: what was done, by whom, and whether it was allowed. */
export interface LoggedRequest {
  id: string;
  /** RFC 3339. */
  at: string;
  verb: string;
  /** The user of the credentials. */
  user: LoggedUser;
  /** The user that was impersonated, if any. */
  impersonated: LoggedUser | undefined;
  target: LoggedObject | { path: string };
  allowed: boolean;
  /** Status code of the response; 0 if there is none yet. */
  code: number;
}

export interface LoggedUser {
  name: string;
  uid: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

export interface LoggedObject {
  namespace: string;
  group: string;
  resource: string;
  subresource: string;
  name: string;
}

/**
 * Parses a line. Returns 'damaged' for what is no entry of an audit log, and undefined for an entry without a decision:
 * one of a request that was not authenticated, or not yet authorized.
 */
export function parseEntry(line: string): LoggedRequest | 'damaged' | undefined {
  const event = tryParseJson(line);
  if (!isRecord(event) || event['kind'] !== 'Event') return 'damaged';
  if (!text(event['apiVersion']).startsWith('audit.k8s.io/')) return 'damaged';
  const { annotations, verb, stageTimestamp, requestURI, objectRef, responseStatus } = event;
  const at = text(stageTimestamp);
  if (text(verb) === '' || Number.isNaN(Date.parse(at))) return 'damaged';
  const decision = isRecord(annotations) ? annotations['authorization.k8s.io/decision'] : undefined;
  if (typeof decision !== 'string') return undefined;
  const code = isRecord(responseStatus) ? responseStatus['code'] : 0;
  return {
    id: text(event['auditID']),
    at,
    verb: text(verb),
    user: readUser(event['user']),
    impersonated: isRecord(event['impersonatedUser']) ? readUser(event['impersonatedUser']) : undefined,
    target: isRecord(objectRef) ? readObject(objectRef) : { path: text(requestURI).split('?', 1)[0] ?? '' },
    allowed: decision === 'allow',
    code: typeof code === 'number' ? code : 0,
  };
}

function readUser(value: unknown): LoggedUser {
  const { username, uid, groups, extra } = isRecord(value) ? value : {};
  const entries = isRecord(extra) ? Object.entries(extra) : [];
  return {
    name: text(username),
    uid: text(uid),
    groups: texts(groups),
    extra: Object.fromEntries(entries.map(([key, values]) => [key, texts(values)])),
  };
}

function readObject(reference: Record<string, unknown>): LoggedObject {
  const { namespace, apiGroup, resource, subresource, name } = reference;
  return {
    namespace: text(namespace),
    group: text(apiGroup),
    resource: text(resource),
    subresource: text(subresource),
    name: text(name),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
