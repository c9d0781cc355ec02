import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errorCode } from '../../base/index.ts';

/** Ids of users, and of groups, that the pods of the node may have. */
export interface HostIds {
  readonly first: number;
  readonly count: number;
}

/** Runs getsubids and resolves to what it writes; rejects with the code ENOENT where there is no such program. */
export type RunGetSubIds = (argv: readonly string[]) => Promise<string>;

export interface HostIdsOptions {
  readonly idsPerPod: number;
  /** Default `/etc/passwd`. */
  readonly usersFile?: string;
  readonly run?: RunGetSubIds;
}

/** The user whose subordinate ids are those of pods, as in the reference. */
const owner = 'kubelet';
const timeoutMs = 10_000;
const maxOutputBytes = 64 * 1024;
/** The kernel takes no range that ends with the last number. */
const endOfIds = 2 ** 32 - 1;

/**
 * The ids that are set apart for pods: the subordinate ones of the user `kubelet` where there is one, and getsubids, else all
 * but those of the machine's own users, which are below 65,536. Throws an Error for people where they cannot be used.
 */
export async function readHostIds({ idsPerPod, usersFile, run }: HostIdsOptions): Promise<HostIds> {
  const all = { first: idsPerPod, count: Math.floor((endOfIds - idsPerPod) / idsPerPod) * idsPerPod };
  const users = await readFile(usersFile ?? '/etc/passwd', 'utf8').catch(() => '');
  if (!users.split('\n').some((line) => line.startsWith(`${owner}:`))) return all;
  const ids = await askGetSubIds(run ?? runGetSubIds);
  if (ids === undefined) return all;
  const fault = findFault(ids, idsPerPod);
  if (fault !== undefined) throw new Error(fault);
  return ids;
}

/** Undefined where there is no such program. */
async function askGetSubIds(run: RunGetSubIds): Promise<HostIds | undefined> {
  try {
    const [users, groups] = [await run([owner]), await run(['-g', owner])];
    if (users !== groups) throw new Error(`mismatched subuids and subgids for user "${owner}"`);
    return parseSubIds(users);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Lines such as `0: kubelet 65536 2147483648`; there must be one. */
function parseSubIds(text: string): HostIds {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [, first, count] = /^\d+: \S+ (\d{1,10}) (\d{1,10})\s*$/.exec(lines[0] ?? '') ?? [];
  if (lines.length === 1 && first !== undefined && count !== undefined)
    return { first: Number(first), count: Number(count) };
  const found = JSON.stringify(text.slice(0, 200));
  throw new Error(`getsubids must give one range of ids for user "${owner}", and gives ${found}`);
}

function findFault({ first, count }: HostIds, idsPerPod: number): string | undefined {
  const ids = 'kubelet user assigned ID';
  if (first % idsPerPod !== 0) return `${ids} ${first} is not a multiple of ${idsPerPod}`;
  if (first < idsPerPod) return `${ids} ${first} must be greater or equal to ${idsPerPod}`;
  if (count % idsPerPod !== 0) return `${ids}s length ${count} is not a multiple of ${idsPerPod}`;
  return first + count > endOfIds ? `${ids}s end with ${first + count}, beyond the last one` : undefined;
}

const execute = promisify(execFile);

async function runGetSubIds(argv: readonly string[]): Promise<string> {
  const options = { timeout: timeoutMs, maxBuffer: maxOutputBytes, killSignal: 'SIGKILL' } as const;
  return (await execute('getsubids', [...argv], options)).stdout;
}
