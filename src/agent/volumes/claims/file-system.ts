import type { Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Mounter } from '../mounter.ts';
import type { ToolResult, Tools } from '../tools.ts';

export interface DeviceMount {
  readonly device: string;
  /** An empty folder. */
  readonly path: string;
  /** Empty: that of the device, or ext4 for an empty one. */
  readonly fsType: string;
  readonly options: readonly string[];
  /** The pod only reads: an empty device is refused then. */
  readonly isReadOnly: boolean;
}

export interface FileSystemTools {
  readonly tools: Tools;
  readonly mounter: Mounter;
  readonly log: Logger;
}

/** Whether a file system was being made on the device when the agent was ended: what is on it then is nobody's. */
export interface FormatMark {
  isSet(): Promise<boolean>;
  set(): Promise<void>;
}

const defaultType = 'ext4';
/** A device may be slow, or hang. */
const lookTimeoutMs = 30_000;
/** To make a file system, or to check one. */
const workTimeoutMs = 30 * 60_000;
/** So much of the begin of a device must be zero, else it is not empty: also what no tool knows may be of worth. */
const emptyBytes = 4 * 2 ** 20;

/**
 * Mounts a device, and makes a file system on it first if it is empty. Whatever is on a device stays: known or not, readable or
 * not. Rejects with an Error in the words of the reference, as far as that knows the case.
 */
export async function mountDevice(mount: DeviceMount, mark: FormatMark, own: FileSystemTools): Promise<void> {
  const { device, path, fsType, isReadOnly } = mount;
  const wanted = fsType === '' ? defaultType : fsType;
  if (!/^[a-z0-9]{1,32}$/.test(wanted))
    throw new Error(`${JSON.stringify(wanted)} is no type of file system`);
  const found = await readFormat(device, own.tools);
  if (found === '') {
    if (isReadOnly)
      throw new Error(`cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`);
    if (!(await mark.isSet())) await checkEmpty(device, own.tools);
    await mark.set();
    await format(mount, wanted, own);
  } else if (found === partitions) throw new Error(`${device} has ${partitions}`);
  else if (!isReadOnly) await check(device, own);
  try {
    await own.mounter.mountDevice(device, path, wanted, mount.options);
  } catch (error) {
    if (found === '' || found === wanted) throw error;
    throw new Error(`${describeError(error)}; the file system on it is ${found}, not ${wanted}`, {
      cause: error,
    });
  }
}

const partitions = 'unknown data, probably partitions';

/** The type of the file system, or what else is on the device; empty: nothing that is known. */
async function readFormat(device: string, tools: Tools): Promise<string> {
  const argv = ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', '--', device];
  const failed = (why: string) => new Error(`failed to get disk format of disk ${device}: ${why}`);
  const { code, output, errors } = await tools.run('blkid', argv, lookTimeoutMs).catch((error: unknown) => {
    throw failed(describeError(error));
  });
  if (code === nothingFound) return '';
  if (code !== 0) throw failed(errors.trim() || `exit status ${code}`);
  const values = new Map(
    output
      .split('\n')
      .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const type = values.get('TYPE') ?? '';
  if (type !== '') return type;
  if (values.has('PTTYPE')) return partitions;
  throw failed(`blkid said ${JSON.stringify(output.trim())}`);
}

/** Of blkid; it says the same of a device that it cannot read. */
const nothingFound = 2;

async function checkEmpty(device: string, tools: Tools): Promise<void> {
  const argv = [`--bytes=${emptyBytes}`, '--', device, '/dev/zero'];
  const { code, errors } = await tools.run('cmp', argv, lookTimeoutMs);
  const isShort = errors.includes('EOF on') && !errors.includes('which is empty');
  if (code === 0 || (code === 1 && isShort)) return;
  if (code === 1 && errors === '')
    throw new Error(
      `there is something on ${device} that is no known file system, and it is not overwritten: if it is of no use, clear the device with blkdiscard --zeroout`,
    );
  throw new Error(`${device} cannot be read: ${errors.trim() || `exit status ${code}`}`);
}

/** What must be said to make one without a question, as the reference says it. */
const formatOptions: Readonly<Record<string, readonly string[]>> = {
  ext3: ['-F', '-m0'],
  ext4: ['-F', '-m0'],
  xfs: ['-f'],
};

async function format(
  { device, path, options }: DeviceMount,
  type: string,
  own: FileSystemTools,
): Promise<void> {
  own.log.info(`making a file system on ${device}, which is empty: ${type}`);
  const failed = (code: string, output: string) =>
    new Error(
      `format of disk ${quote(device)} failed: type:(${quote(type)}) target:(${quote(path)}) options:(${quote(options.join(','))}) errcode:(${code}) output:(${output})`,
    );
  const given = Object.hasOwn(formatOptions, type) ? (formatOptions[type] ?? []) : [];
  const made = await own.tools
    .run(`mkfs.${type}`, [...given, device], workTimeoutMs)
    .catch((error: unknown) => {
      throw failed(describeError(error), '');
    });
  if (made.code !== 0) throw failed(`exit status ${made.code}`, textOf(made));
}

/** Has faults repaired that can be repaired without a question. */
async function check(device: string, { tools, log }: FileSystemTools): Promise<void> {
  const checked = await tools.run('fsck', ['-a', device], workTimeoutMs).catch((error: unknown) => {
    log.warn(`${device} is mounted unchecked: ${describeError(error)}`);
    return undefined;
  });
  if (checked === undefined || checked.code === 0) return;
  if (checked.code === faultsLeft)
    throw new Error(`'fsck' found errors on device ${device} but could not correct them: ${textOf(checked)}`);
  log.info(`fsck of ${device} ended with ${checked.code}: ${textOf(checked)}`);
}

const faultsLeft = 4;

const textOf = ({ output, errors }: ToolResult) => `${output.trim()}\n${errors.trim()}`.trim();
const quote = (text: string) => JSON.stringify(text);
