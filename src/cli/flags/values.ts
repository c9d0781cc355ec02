import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { checkName, parseGates } from '../../api/index.ts';
import { parseDuration } from '../../base/index.ts';

// Parsers of option values; all throw an InvalidArgumentError that says what is expected.

/** A TCP port; 0 lets the system choose. */
export function parsePort(text: string): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError('It must be a port: a whole number from 0 to 65535.');
}

export function parseIpAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError('It must be an IP address.');
}

/** Separated by commas; each is returned once. */
export function parseIpAddresses(text: string): string[] {
  return [...new Set(text.split(',').map((part) => parseIpAddress(part.trim())))];
}

/** A file or folder, made absolute. */
export function parseFilePath(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return resolve(text);
}

/** A file, made absolute, or `-` for standard input or output. */
export function parseFileOrDash(text: string): string {
  return text === '-' ? text : parseFilePath(text);
}

export function parseUnixSocket(text: string): string {
  if (/^unix:\/\/\/./.test(text)) return text;
  throw new InvalidArgumentError('It must be a socket: unix:///absolute/path.');
}

/** A parser for durations from `min` to `max`, in milliseconds. Both, and the example, are as a user writes them. */
export function durationParser(min: string, max: string, example: string): (text: string) => number {
  const [minMs, maxMs] = [parseMilliseconds(min), parseMilliseconds(max)];
  return (text) => {
    const ms = parseMilliseconds(text);
    if (ms >= minMs && ms <= maxMs) return ms;
    throw new InvalidArgumentError(`It must be a duration from ${min} to ${max}, such as ${example}.`);
  };
}

/** A duration in milliseconds; NaN if it is none. */
export function parseMilliseconds(text: string): number {
  const nanoseconds = parseDuration(text);
  return nanoseconds === undefined ? Number.NaN : Number(nanoseconds) / 1e6;
}

export const parseTimeToLive = durationParser('1m', '8760h', '1h or 90m');

/** A parser for whole numbers of at most seven digits. */
export function wholeNumberParser(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,7}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** `256Mi`: from a mebibyte to a tebibyte, in bytes. */
export function parseByteSize(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,13})(Ki|Mi|Gi|Ti)?$/.exec(text) ?? [];
  const bytes = Number(digits ?? -1) * 1024 ** ['', 'Ki', 'Mi', 'Gi', 'Ti'].indexOf(unit);
  if (bytes >= 1024 ** 2 && bytes <= 1024 ** 4) return bytes;
  throw new InvalidArgumentError('It must be a size from 1Mi to 1Ti, such as 256Mi.');
}

export function parseBoolean(text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new InvalidArgumentError('It must be true or false.');
}

export function parseDomain(text: string): string {
  const problem = checkName('subdomain', text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`It must be a domain: ${problem}.`);
}

/** `A=true,B=false`, added to the values of earlier occurrences. */
export function parseFeatureGates(
  text: string,
  before: Record<string, boolean> = {},
): Record<string, boolean> {
  const gates = parseGates(text);
  if (typeof gates === 'string') throw new InvalidArgumentError(`It must be A=true,B=false; ${gates}.`);
  return { ...before, ...Object.fromEntries(gates) };
}

/** For options that may be repeated. */
export function collectTexts(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
