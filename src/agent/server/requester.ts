import type { IncomingHttpHeaders } from 'node:http';
import { agentClientUser, requesterHeader } from '../../api/index.ts';
import type { Caller } from './access/index.ts';

/** 256 characters, each of three bytes. */
const longest = 256 * 9;

/**
 * For whom a request is recorded: the caller, or whom the control plane says that it asks for. A token is not enough for
 * that: such callers have names that others have given them. Nothing may be decided by it.
 */
export function requesterOf(
  { name, authenticatedBy }: Pick<Caller, 'name' | 'authenticatedBy'>,
  headers: IncomingHttpHeaders,
): string {
  const told = headers[requesterHeader];
  if (name !== agentClientUser || authenticatedBy !== 'certificate') return name;
  if (typeof told !== 'string' || told === '' || told.length > longest) return name;
  try {
    return decodeURIComponent(told);
  } catch {
    return name;
  }
}
