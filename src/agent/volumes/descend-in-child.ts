import { isRecord, tryParseJson } from '../../base/index.ts';
import { startProgram } from './child-program.ts';
import type { Reached } from './descend.ts';
import { descend } from './descend.ts';

/** The same as `descend`, in a process of its own: that may hang with the file system, this one must not. */
export async function descendInChild(
  base: string,
  path: string,
  cancel: AbortSignal,
): Promise<Reached & AsyncDisposable> {
  const program = await startProgram(source(), [base, path], cancel);
  try {
    const { descriptor, isFolder } = readAnswer((await program.nextLine()) ?? '');
    const close = () => program[Symbol.asyncDispose]();
    return { pid: program.pid, descriptor, isFolder, [Symbol.asyncDispose]: close };
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
  }
}

/** Answers in one line, and holds the descriptor until its input ends. */
function source(): string {
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
