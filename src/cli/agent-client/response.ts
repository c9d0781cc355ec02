import { isRecord } from '../../api/index.ts';
import { ExitError, exitCodes, tryParseRecord } from '../../base/index.ts';
import type { ApiClient, RawAnswer, RawRequest } from '../../client/index.ts';
import { NoAccessError } from './no-access.ts';

/** Where an agent is, and a way to ask it. */
export type AgentClient = Pick<ApiClient, 'server' | 'request'>;

/**
 * Sends a request to an agent and returns the JSON object in its response. `okCodes`: codes besides 2xx whose response
 * is returned, too. Throws an ExitError with the agent's message for every other code.
 */
export async function requestAgent(
  client: AgentClient,
  request: RawRequest,
  okCodes: readonly number[] = [],
): Promise<Record<string, unknown>> {
  const response = await client.request(request);
  if ((response.code >= 200 && response.code < 300) || okCodes.includes(response.code))
    return parseObject(client, response);
  throw responseError(client, response);
}

/** The error for a response that is not the expected one; a NoAccessError for 403. */
export function responseError({ server }: Pick<AgentClient, 'server'>, { code, body }: RawAnswer): ExitError {
  const status = statusMessage(body);
  // a Status comes from the control plane on the way to the agent; the agent itself sends plain text
  const message = status ?? `the agent at ${server} answered ${code}: ${body.trim()}`;
  return code === 403
    ? new NoAccessError(exitCodes.failed, message)
    : new ExitError(exitCodes.failed, message);
}

/** The message of a Status; undefined if the body is something else. */
function statusMessage(body: string): string | undefined {
  const value = tryParseRecord(body);
  const isStatus = value?.['kind'] === 'Status';
  return isStatus && typeof value['message'] === 'string' ? value['message'] : undefined;
}

function parseObject({ server }: Pick<AgentClient, 'server'>, { body }: RawAnswer): Record<string, unknown> {
  const value = tryParseRecord(body);
  if (value !== undefined) return value;
  throw new ExitError(exitCodes.failed, `the agent at ${server} sent no JSON object`);
}

// The agent may be of another version, so nothing about the fields of its objects is taken for granted.

/** The records in a list; empty if the value is not a list. */
export function toRecords(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The texts in a list; empty if the value is not a list. */
export function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** A cell of a table: `-` for what is not a text, or empty. */
export function textCell(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : '-';
}

/** A cell of a table: `-` for what is not a number. */
export function numberCell(value: unknown): string {
  return typeof value === 'number' ? String(value) : '-';
}
