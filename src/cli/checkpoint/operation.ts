import { isRecord } from '../../api/index.ts';
import { ExitError, exitCodes, systemClock } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { ConnectionError } from '../../client/index.ts';
import { pathOf } from './checkpoint-id.ts';

const tries = 10;
const retryMs = 1000;

/**
 * Watches an operation until it has ended, over as many connections as it takes, and answers the path of the archive. One
 * that failed is an ExitError in the agent's words.
 */
export async function untilEnded(client: ApiClient, id: string, signal: AbortSignal): Promise<string> {
  for (let failures = 0; ; ) {
    try {
      const last = await watch(client, id, signal);
      if (last['state'] === 'Done') return String(last['path']);
      if (last['state'] === 'Failed' || last['state'] === 'Cancelled')
        throw new ExitError(exitCodes.failed, String(last['message']));
      failures = 0; // an agent may end a watch before its time
    } catch (error) {
      failures += 1;
      if (!(error instanceof ConnectionError) || failures >= tries) throw error;
    }
    await systemClock.sleep(retryMs, signal);
    signal.throwIfAborted();
  }
}

/** The last state that was told. */
async function watch(client: ApiClient, id: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const request = { method: 'GET', path: `${pathOf(id)}?watch=true`, signal } as const;
  const utf8 = new TextDecoder();
  let text = '';
  for await (const chunk of client.download(request, 0)) {
    text += utf8.decode(chunk, { stream: true });
    const lines = text.trimEnd().split('\n');
    if (text.endsWith('\n')) text = `${lines.at(-1)}\n`; // what came before is past
  }
  const last: unknown = JSON.parse(text || '{}');
  return isRecord(last) ? last : {};
}
