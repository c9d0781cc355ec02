import { checkName } from '../../names/index.ts';
import { invalidUnless, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import type { Cause } from '../kind.ts';

/*
 * Checks of single values that many parts of a pod share. Those that start with `check` return what is wrong, or
 * undefined; the others return causes.
 */

export function checkRange(value: number, from: number, to: number): string | undefined {
  return value >= from && value <= to ? undefined : `must be between ${from} and ${to}, inclusive`;
}

export function checkPort(port: number): string | undefined {
  return checkRange(port, 1, 65535);
}

/** The name of a port (RFC 6335, section 5.1). */
export function checkPortName(name: string): string | undefined {
  if (name.length > 15) return 'must be no more than 15 characters';
  if (!/^[-a-z0-9]*$/.test(name))
    return 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)';
  if (!/[a-z]/.test(name)) return 'must contain at least one letter (a-z)';
  if (name.includes('--')) return 'must not contain consecutive hyphens';
  return /^-|-$/.test(name) ? 'must not begin or end with a hyphen' : undefined;
}

/** A relative path that does not lead out of its folder. */
export function checkDescendingPath(path: string): string | undefined {
  if (path.startsWith('/')) return 'must be a relative path';
  return checkNoBacksteps(path);
}

export function checkNoBacksteps(path: string): string | undefined {
  return path.split('/').includes('..') ? "must not contain '..'" : undefined;
}

/** As `checkDescendingPath`, with everything that is wrong. */
export function descendingPathCauses(field: string, path: string): Cause[] {
  return [
    ...(path.startsWith('/') ? [invalidValue(field, path, 'must be a relative path')] : []),
    ...invalidUnless(field, path, checkNoBacksteps(path)),
  ];
}

/** The path of a file in a volume; names that begin with two dots are reserved for the node agent. */
export function filePathCauses(field: string, path: string | undefined): Cause[] {
  if (!path) return [requiredValue(field)];
  const isReserved = path.startsWith('..') && !path.startsWith('../');
  return [
    ...descendingPathCauses(field, path),
    ...(isReserved ? [invalidValue(field, path, "must not start with '..'")] : []),
  ];
}

export function checkFileMode(mode: number): string | undefined {
  return mode >= 0 && mode <= 0o777
    ? undefined
    : 'must be a number between 0 and 0777 (octal), both inclusive';
}

export function checkUserId(id: number): string | undefined {
  return checkRange(id, 0, 2 ** 31 - 1);
}

/** One of some values; an empty one counts as absent. */
export function oneOf(field: string, value: string | undefined, supported: readonly string[]): Cause[] {
  if (value === undefined || value === '') return [requiredValue(field)];
  return supported.includes(value) ? [] : [unsupportedValue(field, value, supported)];
}

/** As `oneOf`, of a field that may be absent. */
export function oneOfIfSet(field: string, value: string | undefined, supported: readonly string[]): Cause[] {
  return value === undefined || supported.includes(value) ? [] : [unsupportedValue(field, value, supported)];
}

export function notNegative(field: string, value: number | undefined): Cause[] {
  return value === undefined || value >= 0
    ? []
    : [invalidValue(field, value, 'must be greater than or equal to 0')];
}

/** A required name that is a DNS label (RFC 1123). */
export function labelName(field: string, name: string): Cause[] {
  return name === '' ? [requiredValue(field)] : invalidUnless(field, name, checkName('label', name));
}

/** A required name that is a DNS subdomain (RFC 1123). */
export function subdomainName(field: string, name: string | undefined): Cause[] {
  return name ? subdomainIfSet(field, name) : [requiredValue(field)];
}

/** As `subdomainName`, of a field that may be absent. */
export function subdomainIfSet(field: string, name: string | undefined): Cause[] {
  return name ? invalidUnless(field, name, checkName('subdomain', name)) : [];
}

export function notEmpty(field: string, value: string | undefined): Cause[] {
  return value ? [] : [requiredValue(field)];
}
