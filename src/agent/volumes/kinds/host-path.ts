import { DeadlineError } from '../../../base/index.ts';
import type { Tools } from '../tools.ts';
import type { VolumeKind } from './types.ts';
import { FinalVolumeError } from './types.ts';

const timeoutMs = 10_000;

/** What a type of hostPath wants to be there, in words; by the bits of the kernel for the type of a file. */
const wanted: Readonly<Record<string, { readonly what: string; readonly bits: number }>> = {
  Directory: { what: 'directory', bits: 0o04 },
  DirectoryOrCreate: { what: 'directory', bits: 0o04 },
  File: { what: 'file', bits: 0o10 },
  FileOrCreate: { what: 'file', bits: 0o10 },
  Socket: { what: 'socket file', bits: 0o14 },
  CharDevice: { what: 'character device', bits: 0o02 },
  BlockDevice: { what: 'block device', bits: 0o06 },
};

/**
 * A path of the node. It may lie on any file system, also one that hangs: so it is looked at by programs of the system with a
 * deadline, and only where the volume says what must be there. Links in it are followed, as those who may name a path of the node may name any.
 */
export const hostPath: VolumeKind = {
  isForeign: true,
  async setUp({ source }, { tools }) {
    const { path = '', type = '' } = source.hostPath ?? {};
    if (path.split('/').includes('..'))
      throw new FinalVolumeError(`invalid HostPath \`${path}\`: must not contain '..'`);
    if (type !== '') await checkType(path, type, tools);
  },
  pathOf: async ({ source }) => source.hostPath?.path ?? '',
};

async function checkType(path: string, type: string, tools: Tools): Promise<void> {
  const expected = Object.hasOwn(wanted, type) ? wanted[type] : undefined;
  if (expected === undefined) throw new FinalVolumeError(`${type} is an invalid volume type`);
  let bits = await readType(path, tools);
  if (bits === undefined && type === 'DirectoryOrCreate') bits = await create(makeFolder, path, tools);
  if (bits === undefined && type === 'FileOrCreate') bits = await create(makeFile, path, tools);
  if (bits !== expected.bits)
    throw new Error(`hostPath type check failed: ${path} is not a ${expected.what}`);
}

/** Undefined where there is nothing. */
async function readType(path: string, tools: Tools): Promise<number | undefined> {
  const { code, output, errors } = await run('stat', ['-L', '--printf=%f', '--', path], path, tools);
  if (code === 0) return Number.parseInt(output, 16) >> 12;
  if (errors.includes('No such file or directory')) return undefined;
  throw new Error(`hostPath ${path} cannot be looked at: ${errors.trim()}`);
}

/** Mode 0755 for all folders that are made; 0644 for the file, whose folder must be there. */
const makeFolder = 'umask 022; exec mkdir -p -- "$1"';
/** With -C an existing file is never touched: another process may have made one meanwhile. */
const makeFile = 'umask 022; set -C; : > "$1"';

async function create(script: string, path: string, tools: Tools): Promise<number | undefined> {
  const { code, errors } = await run('sh', ['-c', script, 'sh', path], path, tools);
  const bits = await readType(path, tools);
  if (code !== 0 && bits === undefined) throw new Error(`hostPath ${path} cannot be made: ${errors.trim()}`);
  return bits;
}

async function run(command: string, argv: readonly string[], path: string, tools: Tools) {
  try {
    return await tools.run(command, argv, timeoutMs);
  } catch (error) {
    if (error instanceof DeadlineError)
      throw new Error(`hostPath ${path} does not answer within ${timeoutMs / 1000} s`);
    throw error;
  }
}
