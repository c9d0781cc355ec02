import { checkQualifiedName } from '../../../api/index.ts';

/**
 * What is wrong with a name as that of an extended resource, or undefined. As in the reference it has a domain that does
 * not end in kubernetes.io, and still is a qualified name once a quota has put `requests.` before it.
 */
export function resourceNameFault(name: string): string | undefined {
  if (!name.includes('/'))
    return 'an extended resource has a domain before its name, such as vendor.example/device';
  if (name.includes('kubernetes.io/')) return 'names in kubernetes.io are not for device plugins';
  if (name.startsWith('requests.')) return 'it must not begin with requests.';
  return checkQualifiedName(`requests.${name}`);
}
