import { chown, lstat, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ExitError, errorCode, exitCodes, readRegularFile, writeFileAtomic } from '../../base/index.ts';
import { readWords } from '../agent-client/installed-flags.ts';

const limitBytes = 64 * 1024;
const variable = 'NODEWARD_JOIN_FLAGS';
/** What systemd and a shell take as it is. */
const plainWord = /^[\w@%+=:,./-]+$/;

/** The file that nodeward.service reads, as it is before a join. */
interface AgentEnv {
  /** As a user knows it; it may be a link. */
  path: string;
  /** Empty where there is no file. */
  text: string;
}

/** Reads the agent.env of a folder. Throws an ExitError when a join cannot add its flags to it. */
export async function readAgentEnv(folder: string): Promise<AgentEnv> {
  const path = join(folder, 'agent.env');
  const text = await readText(path);
  checkLastLine(path, text);
  checkOperatorFlags(path, text);
  return { path, text };
}

async function readText(path: string): Promise<string> {
  try {
    return (await readRegularFile(path, { limitBytes })).toString('utf8');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    if (!(await isLink(path))) return '';
    throw new ExitError(
      exitCodes.configuration,
      `${path} is a link to a file that does not exist: create the file or remove the link, then join again`,
    );
  }
}

const isLink = (path: string) =>
  lstat(path).then(
    (facts) => facts.isSymbolicLink(),
    () => false,
  );

/** systemd would take the line that a join adds as the rest of this one. */
function checkLastLine(path: string, text: string): void {
  if (!otherLines(text).at(-1)?.endsWith('\\')) return;
  throw new ExitError(
    exitCodes.configuration,
    `the last line of ${path} ends in a backslash, so that systemd would join the next line to it: remove the backslash, then join again`,
  );
}

function checkOperatorFlags(path: string, text: string): void {
  const choice = /^["']?(--(?:(?:bootstrap-)?kubeconfig|embedded-control-plane))(?![\w-])/;
  const flag = readWords(text, 'NODEWARD_FLAGS')
    .map((word) => choice.exec(word)?.[1])
    .find((each) => each !== undefined);
  if (flag === undefined) return;
  throw new ExitError(
    exitCodes.configuration,
    `NODEWARD_FLAGS in ${path} has ${flag}, which chooses another control plane: remove it, then join again`,
  );
}

/** The flag with which an earlier join has named the node. */
export function readNameFlag({ text }: AgentEnv): string | undefined {
  return readWords(text, variable).findLast((word) => word.startsWith('--hostname-override='));
}

/**
 * Sets the flags with which the agent of this machine joins; every other line stays, and so do the owner and the
 * permissions of the file. Returns whether that changed anything.
 */
export async function writeJoinFlags({ path, text }: AgentEnv, flags: readonly string[]): Promise<boolean> {
  const odd = flags.find((flag) => !plainWord.test(flag));
  if (odd !== undefined)
    throw new ExitError(
      exitCodes.usage,
      `${JSON.stringify(odd)} cannot be written into ${path}: choose a plainer path`,
    );
  const after = [...otherLines(text), `${variable}="${flags.join(' ')}"`, ''].join('\n');
  if (after === text) return false;
  await replaceFile(path, after);
  return true;
}

/** The lines that do not set the flags of a join, without empty ones at the end. */
function otherLines(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith(`${variable}=`));
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
}

/** Replaces the file that a path leads to, also through a link. A new one is for its owner only: flags may be secret. */
async function replaceFile(path: string, text: string): Promise<void> {
  const before = await stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (before === undefined) return await writeFileAtomic(path, text, { mode: 0o600 });
  const target = await realpath(path);
  await writeFileAtomic(target, text, { mode: before.mode & 0o777 });
  const now = await stat(target);
  if (now.uid !== before.uid || now.gid !== before.gid) await chown(target, before.uid, before.gid);
}
