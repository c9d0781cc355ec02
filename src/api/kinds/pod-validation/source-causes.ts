import { invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { Volume } from '../pods/types.ts';
import { checkNoBacksteps, oneOfIfSet } from './formats.ts';

/* Sources that the volumes of pods and persistent volumes have in common. */

const hostPathTypes = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
];

/** Of the required fields of a source that have no rules of their own. */
export function essentialCauses(source: unknown, names: readonly string[], at: string): Cause[] {
  if (typeof source !== 'object' || source === null) return [];
  return names
    .filter((name) => {
      const value: unknown = Reflect.get(source, name);
      return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    })
    .map((name) => requiredValue(`${at}.${name}`));
}

export function hostPathCauses({ path, type }: NonNullable<Volume['hostPath']>, at: string): Cause[] {
  if (path === '') return [requiredValue(`${at}.path`)];
  return [
    ...invalidUnless(`${at}.path`, path, checkNoBacksteps(path)),
    ...oneOfIfSet(`${at}.type`, type, hostPathTypes),
  ];
}

export function nfsCauses({ path }: NonNullable<Volume['nfs']>, at: string): Cause[] {
  if (path.startsWith('/')) return [];
  return [invalidValue(`${at}.path`, path, 'must be an absolute path')];
}
