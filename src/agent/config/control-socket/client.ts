import { createConnection } from 'node:net';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
import type { Reloaded } from '../index.ts';
import { answerLimitBytes, controlSocketPath, parseAnswer, reloadRequest } from './protocol.ts';

export interface ReloadRequest {
  /** The agent's root folder. */
  rootDir: string;
  /** How long the agent may take. */
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * Has the running agent load its configuration again, and waits until it is applied. Throws an ExitError that says why not;
 * the agent runs on with what it has.
 */
export async function requestReload({ rootDir, timeoutMs, signal }: ReloadRequest): Promise<Reloaded> {
  const path = controlSocketPath(rootDir);
  const limit = AbortSignal.timeout(timeoutMs);
  const line = await exchange(path, AbortSignal.any([signal, limit])).catch((error: unknown) => {
    if (limit.aborted)
      throw failed(`the agent has not answered within ${timeoutMs / 1000} s; look into its log`);
    throw failed(explainFailure(path, error), error);
  });
  const answer = parseAnswer(line);
  if (answer === undefined) throw failed('the agent ended before it answered; look into its log');
  if (answer.ok) return answer;
  const message = `the agent keeps the configuration that it has:\n${answer.message}`;
  throw answer.configuration ? new ExitError(exitCodes.configuration, message) : failed(message);
}

const failed = (message: string, cause?: unknown) => new ExitError(exitCodes.failed, message, { cause });

function explainFailure(path: string, error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ECONNREFUSED')
    return `no agent listens on ${path}: start one, or name its folder with --root-dir`;
  if (code === 'EACCES') return `this user may not open ${path}; ask as its owner or as root`;
  return `cannot ask the agent by ${path}: ${describeError(error)}`;
}

/** Sends the request and returns the first line of the answer, or all of an answer without a line's end. */
async function exchange(path: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const socket = createConnection({ path });
  const stop = () => void socket.destroy(new Error('interrupted'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    socket.setEncoding('utf8').write(`${JSON.stringify(reloadRequest)}\n`);
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.includes('\n') || text.length > answerLimitBytes) break;
    }
    return text.split('\n', 1)[0] ?? '';
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}
