import { StatusError } from './errors/index.ts';
import type { PodLogOptions } from './kinds/index.ts';

/* The query of a request for a log, at the API and at an agent. */

const booleans = ['follow', 'previous', 'timestamps', 'insecureSkipTLSVerifyBackend'] as const;
const integers = ['sinceSeconds', 'tailLines', 'limitBytes'] as const;
const texts = ['container', 'sinceTime', 'stream'] as const;

/** Reads them out of a query; what is empty counts as absent. Throws 400 for what is no number or no time. */
export function readLogOptions(query: URLSearchParams): PodLogOptions {
  const options: PodLogOptions = {};
  for (const name of booleans)
    if (query.has(name)) options[name] = !['false', '0'].includes(query.get(name) ?? '');
  for (const name of integers) {
    const text = query.get(name) ?? '';
    if (text !== '') options[name] = readInteger(name, text);
  }
  for (const name of texts) {
    const text = query.get(name) ?? '';
    if (text !== '') options[name] = text;
  }
  if (options.sinceTime !== undefined && !isTime(options.sinceTime))
    throw badParameter('sinceTime', options.sinceTime, 'a time as of RFC 3339, such as 2026-01-31T12:00:00Z');
  return options;
}

/** What they are in a query. */
export function writeLogOptions(options: PodLogOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of [...booleans, ...integers, ...texts]) {
    const value = options[name];
    if (value !== undefined && value !== false) query.set(name, String(value));
  }
  return query;
}

function readInteger(name: string, text: string): number {
  if (/^[+-]?\d{1,15}$/.test(text)) return Number(text);
  throw badParameter(name, text, 'a whole number');
}

const isTime = (text: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));

function badParameter(name: string, text: string, wanted: string): StatusError {
  const quoted = JSON.stringify(text.slice(0, 100));
  return new StatusError('BadRequest', `the parameter ${name} must be ${wanted}, not ${quoted}`);
}
