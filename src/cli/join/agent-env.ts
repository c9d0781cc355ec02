import { join } from 'node:path';
import { ExitError, errorCode, exitCodes, readRegularFile, writeFileAtomic } from '../../base/index.ts';

const limitBytes = 64 * 1024;
const variable = 'NODEWARD_JOIN_FLAGS';
/** What systemd and a shell take as it is. */
const plainWord = /^[\w@%+=:,./-]+$/;

/**
 * Sets the flags with which the agent of this machine joins, in the file that nodeward.service reads; every other line
 * stays. Returns whether that changed anything.
 */
export async function writeJoinFlags(folder: string, flags: readonly string[]): Promise<boolean> {
  const path = join(folder, 'agent.env');
  const odd = flags.find((flag) => !plainWord.test(flag));
  if (odd !== undefined)
    throw new ExitError(
      exitCodes.usage,
      `${JSON.stringify(odd)} cannot be written into ${path}: choose a plainer path`,
    );
  const before = await readText(path);
  const line = `${variable}="${flags.join(' ')}"`;
  const lines = before.split('\n').filter((each) => !each.startsWith(`${variable}=`));
  while (lines.at(-1) === '') lines.pop();
  const after = [...lines, line, ''].join('\n');
  if (after === before) return false;
  await writeFileAtomic(path, after, { mode: 0o644 });
  return true;
}

async function readText(path: string): Promise<string> {
  try {
    return (await readRegularFile(path, { limitBytes })).toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

/** Throws an ExitError when flags of the operator choose another control plane. */
export async function checkOperatorFlags(folder: string): Promise<void> {
  const path = join(folder, 'agent.env');
  const text = await readText(path);
  const own = text.split('\n').find((line) => /^\s*NODEWARD_FLAGS=/.test(line)) ?? '';
  const [, flag] = /(--(?:bootstrap-)?kubeconfig|--embedded-control-plane)\b/.exec(own) ?? [];
  if (flag === undefined) return;
  throw new ExitError(
    exitCodes.configuration,
    `NODEWARD_FLAGS in ${path} has ${flag}, which chooses another control plane: remove it, then join again`,
  );
}
