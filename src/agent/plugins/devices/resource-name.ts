import { checkQualifiedName } from '../../../api/index.ts';

/**
 * Returns what is wrong with the name of an extended resource, or undefined. As in the reference the name must have a domain
 * that does not end with kubernetes.io, and must be a qualified name also with the prefix `requests.` of quotas.
 */
export function findResourceNameFault(name: string): string | undefined {
  if (!name.includes('/'))
    return 'an extended resource has a domain before its name, such as vendor.example/device';
  if (name.includes('kubernetes.io/')) return 'names in kubernetes.io are not for device plugins';
  if (name.startsWith('requests.')) return 'it must not begin with requests.';
  return checkQualifiedName(`requests.${name}`);
}
