import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, errorCode, readRegularFile } from '../../base/index.ts';
import type { Problem } from './problems.ts';

const maxBytes = 1024 * 1024;
const maxFiles = 1_000;
const maxDepth = 16;

export interface ReadFile {
  file: string;
  /** Undefined when it could not be read; then there is a problem. */
  text: string | undefined;
}

/** Reads a configuration file: regular, UTF-8, at most 1 MiB. */
export async function readConfigFile(file: string, problems: Problem[]): Promise<ReadFile> {
  try {
    const data = await readRegularFile(file, { limitBytes: maxBytes });
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(data) };
  } catch (error) {
    problems.push({ file, path: '', message: readMessage(error) });
    return { file, text: undefined };
  }
}

function readMessage(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return `user ${process.geteuid?.()} may not read it`;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8 text';
  return `cannot be read: ${describeError(error)}`;
}

interface DropIns {
  files: string[];
  /** Files that are passed over, and a folder that is missing. */
  warnings: string[];
}

/**
 * The drop-ins of a folder (specification 2.7): what ends in `.conf`, in the order of a folder walk, in which the
 * entries of each folder are sorted by name and a subfolder is read where its name sorts. Without `folder` there are none.
 */
export async function listDropIns(folder: string | undefined, problems: Problem[]): Promise<DropIns> {
  const found: DropIns = { files: [], warnings: [] };
  if (folder === undefined) return found;
  try {
    if (!(await stat(folder)).isDirectory()) throw new Error('it is not a folder');
    const others: string[] = [];
    await walk(folder, 0, found.files, others);
    found.warnings.push(...describePassedOver(others));
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      found.warnings.push(`${folder}: there is no such folder, so no drop-ins`);
    else
      problems.push({ file: folder, path: '', message: `cannot read the drop-ins: ${describeError(error)}` });
  }
  return found;
}

const maxNamed = 10;

function describePassedOver(paths: readonly string[]): string[] {
  const more = paths.length - maxNamed;
  const rest = more > 0 ? [`${more} more files do not end in .conf, and are passed over`] : [];
  const named = paths.slice(0, maxNamed);
  return [...named.map((path) => `${path}: passed over, for its name does not end in .conf`), ...rest];
}

/** Sorts what it finds into drop-ins and `others`; what editors, package managers and hidden files leave is in neither. */
async function walk(folder: string, depth: number, files: string[], others: string[]): Promise<void> {
  if (depth > maxDepth) throw new Error(`${folder} is nested deeper than ${maxDepth} folders`);
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await walk(path, depth + 1, files, others);
    else if (entry.name.endsWith('.conf')) files.push(path);
    else if (!isLeftover(entry.name) && others.length < maxFiles) others.push(path);
    if (files.length > maxFiles) throw new Error(`there are more than ${maxFiles} files`);
  }
}

/** `.conf.swp`, `10.conf~`, `10.conf.dpkg-old`, README: nobody expects these to count. */
function isLeftover(name: string): boolean {
  return /^\.|~$|\.(dpkg|ucf|rpm)[a-z-]*$|^README/i.test(name);
}
