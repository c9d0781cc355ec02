import { createConnection } from 'node:net';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
import type { Reloaded } from '../index.ts';
import type { AgentDescription } from './description.ts';
import type { ControlRequest } from './protocol.ts';
import {
  answerLimitBytes,
  controlSocketPath,
  describeRequest,
  parseAnswer,
  reloadRequest,
} from './protocol.ts';

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
  const line = await exchange(path, reloadRequest, AbortSignal.any([signal, limit])).catch(
    (error: unknown) => {
      if (limit.aborted)
        throw failed(`the agent has not answered within ${timeoutMs / 1000} s; look into its log`);
      throw failed(explainFailure(path, error), error);
    },
  );
  const answer = parseAnswer(line);
  if (answer === undefined) throw failed('the agent ended before it answered; look into its log');
  if (answer.ok && 'applied' in answer) return answer;
  if (answer.ok) throw failed('the agent answered something else; look into its log');
  const message = `the agent keeps the configuration that it has:\n${answer.message}`;
  throw answer.configuration ? new ExitError(exitCodes.configuration, message) : failed(message);
}

/** The agent of a root folder; else `fault`: why it did not answer, undefined where none runs. */
export type FoundAgent =
  | { agent: AgentDescription; fault?: undefined }
  | { agent?: undefined; fault: string | undefined };

const describeTimeoutMs = 3000;

/** Asks the agent that runs in a root folder what it is. Rejects only when `signal` aborts. */
export async function findRunningAgent(rootDir: string, signal: AbortSignal): Promise<FoundAgent> {
  const path = controlSocketPath(rootDir);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(describeTimeoutMs)]);
  try {
    const answer = parseAnswer(await exchange(path, describeRequest, limit));
    if (answer?.ok === true && 'agent' in answer) return { agent: answer.agent };
    return { fault: `the agent at ${path} does not say what it is: it is older, or just ended` };
  } catch (error) {
    signal.throwIfAborted();
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR') return { fault: undefined };
    return { fault: explainFailure(path, error) };
  }
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
async function exchange(path: string, request: ControlRequest, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const socket = createConnection({ path });
  const stop = () => void socket.destroy(new Error('interrupted'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    socket.setEncoding('utf8').write(`${JSON.stringify(request)}\n`);
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
