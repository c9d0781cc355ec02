import { spawn } from 'node:child_process';
import { isRecord, tryParseJson } from '../../base/index.ts';
import type { Reached } from './descend.ts';
import { descend } from './descend.ts';

/** The same as `descend`, in a process of its own: that may hang with the file system, this one must not. */
export async function descendInChild(
  base: string,
  path: string,
  cancel: AbortSignal,
): Promise<Reached & AsyncDisposable> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(process.execPath, ['-e', program(), '--', base, path], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const giveUp = () => {
    child.kill('SIGKILL');
    child.stdin.destroy();
    child.stdout.destroy();
    child.unref();
  };
  cancel.addEventListener('abort', giveUp, { once: true });
  child.stdin.on('error', () => undefined); // it may have ended
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(0, maxOutputLength);
    if (output.includes('\n')) resolve(output);
  });
  child.once('error', reject);
  child.once('close', () => resolve(output));
  try {
    const { descriptor, isFolder } = readAnswer(await promise);
    return { pid: child.pid ?? 0, descriptor, isFolder, [Symbol.asyncDispose]: async () => giveUp() };
  } catch (error) {
    giveUp();
    throw error;
  }
}

const maxOutputLength = 4096;

/** Answers in one line, and holds the descriptor until its input ends. */
function program(): string {
  const answer = `(() => {
    try { return (${descend.toString()})(process.argv[1], process.argv[2]); }
    catch (error) { return { fault: String(error.message) }; }
  })()`;
  return `process.stdout.write(JSON.stringify(${answer}) + '\\n'); process.stdin.resume().on('end', () => process.exit());`;
}

function readAnswer(text: string): Omit<Reached, 'pid'> {
  const answer = tryParseJson(text);
  if (!isRecord(answer)) throw new Error('looking for the path ended without an answer');
  const { descriptor, isFolder, fault } = answer;
  if (typeof descriptor === 'number' && typeof isFolder === 'boolean') return { descriptor, isFolder };
  throw new Error(typeof fault === 'string' ? fault : 'looking for the path ended without an answer');
}
