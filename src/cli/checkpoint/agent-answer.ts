import { isRecord } from '../../api/index.ts';
import { ExitError, exitCodes, tryParseRecord } from '../../base/index.ts';
import type { ApiClient, RawAnswer, RawRequest } from '../../client/index.ts';
import { readAnswer } from './proxied-agent.ts';

/**
 * What an agent has answered, a JSON object; `alsoGood` are codes beside 2xx that bring one. Any other answer is an
 * ExitError in the agent's words.
 */
export async function askAgent(
  client: ApiClient,
  request: RawRequest,
  alsoGood: readonly number[] = [],
): Promise<Record<string, unknown>> {
  const answer = await client.request(request);
  if ((answer.code >= 200 && answer.code < 300) || alsoGood.includes(answer.code))
    return objectIn(client, answer);
  throw refused(client, answer);
}

export function refused({ server }: ApiClient, { code, body }: RawAnswer): ExitError {
  const { text, isStatus } = readAnswer(body);
  // on the way to an agent it is the control plane that answers with a Status
  return new ExitError(
    exitCodes.failed,
    isStatus ? text : `the agent at ${server} answered ${code}: ${text}`,
  );
}

/** The records in a list that an agent has answered. */
export function itemsOf(answer: Record<string, unknown>): Record<string, unknown>[] {
  const items = answer['items'];
  return Array.isArray(items) ? items.filter(isRecord) : [];
}

function objectIn({ server }: ApiClient, { body }: RawAnswer): Record<string, unknown> {
  const value = tryParseRecord(body);
  if (value !== undefined) return value;
  throw new ExitError(exitCodes.failed, `the agent at ${server} sent no JSON object`);
}
