import { join } from 'node:path';
import { tryParseRecord } from '../../../base/index.ts';
import type { Reloaded } from '../index.ts';
import type { AgentDescription } from './description.ts';
import { parseDescription } from './description.ts';

/*
 * One request and one answer per connection, each a line of JSON:
 *
 *     {"command":"reload"}
 *     {"ok":true,"applied":["maxPods"],"pending":["port"],"warnings":[]}
 *     {"ok":false,"configuration":true,"message":"/etc/nodeward/config.yaml:3:7: port: …"}
 *
 *     {"command":"describe"}
 *     {"ok":true,"agent":{"pid":4280,"rootDir":"/var/lib/nodeward",…}}
 *
 * The owner of the socket and root may open it, and so may ask.
 */

/** The agent's answer. */
export type ControlAnswer =
  | ({ ok: true } & Reloaded)
  | { ok: true; agent: AgentDescription }
  /** `configuration`: it is the configuration that cannot be used. */
  | { ok: false; configuration: boolean; message: string };

/** The length of a request. */
export const requestLimitBytes = 1024;
/** Room for every problem of a configuration. */
export const answerLimitBytes = 1024 * 1024;

export const reloadRequest = { command: 'reload' } as const;
export const describeRequest = { command: 'describe' } as const;
export type ControlRequest = typeof reloadRequest | typeof describeRequest;

export function controlSocketPath(rootDir: string): string {
  return join(rootDir, 'agent.sock');
}

/** The command of a request; undefined when the line is no request. */
export function parseCommand(line: string): string | undefined {
  const command = tryParseRecord(line)?.['command'];
  return typeof command === 'string' ? command : undefined;
}

/** The answer in a line; undefined when the line is no answer. */
export function parseAnswer(line: string): ControlAnswer | undefined {
  const value = tryParseRecord(line);
  if (value === undefined) return undefined;
  const { ok, message, configuration } = value;
  if (ok === false && typeof message === 'string')
    return { ok, message, configuration: configuration === true };
  const agent = ok === true ? parseDescription(value['agent']) : undefined;
  if (agent !== undefined) return { ok: true, agent };
  const [applied, pending, warnings] = [value['applied'], value['pending'], value['warnings']];
  if (ok !== true || !isTexts(applied) || !isTexts(pending) || !isTexts(warnings)) return undefined;
  return { ok, applied, pending, warnings };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
