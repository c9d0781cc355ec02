import { isDeepStrictEqual } from 'node:util';
import type { Cause, ServiceSpec } from '../../../api/index.ts';
import { clusterIpCauses, familyOf, hasClusterIP, invalidValue } from '../../../api/index.ts';

/*
 * The families of the addresses of a service: what it says, what its addresses say, or what the cluster has. A service
 * changes between one family and two only where its writer says so.
 */

const policyField = 'spec.ipFamilyPolicy';

/**
 * Sets `ipFamilyPolicy` and `ipFamilies` of the copy of a spec, and takes off the second address where its policy says so;
 * `before` is the spec as it is stored, `configured` the families of the cluster. Returns why that cannot be.
 */
export function settleFamilies(
  spec: ServiceSpec,
  before: ServiceSpec | undefined,
  configured: readonly string[],
): readonly Cause[] {
  if (spec.type === 'ExternalName' || (before !== undefined && prefersSame(spec, before))) return [];
  const hasNoPods = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (hasNoPods ? 'RequireDualStack' : 'SingleStack');
  const wrong = clusterIpCauses(spec);
  if (wrong.length > 0) return wrong;
  const causes = [...(before === undefined ? [] : reduce(spec, before)), ...policyCauses(spec)];
  causes.push(...inferFamilies(spec, configured));
  if (causes.length > 0) return causes;
  if (!hasNoPods) causes.push(...configuredCauses(spec, configured));
  if (causes.length > 0) return causes;
  const families = (spec.ipFamilies ?? []).length > 0 ? [...(spec.ipFamilies ?? [])] : configured.slice(0, 1);
  const isDual = spec.ipFamilyPolicy !== 'SingleStack' && (hasNoPods || configured.length === 2);
  if (families.length === 1 && isDual) families.push(families[0] === 'IPv4' ? 'IPv6' : 'IPv4');
  spec.ipFamilies = families;
  return [];
}

/** Whether a service that takes what there is stays as it is, whatever the cluster has by now. */
function prefersSame(spec: ServiceSpec, before: ServiceSpec): boolean {
  const { type, ipFamilyPolicy, clusterIPs, ipFamilies } = spec;
  const prefers = (policy: string | undefined) => policy === 'PreferDualStack';
  return (
    type === before.type &&
    hasClusterIP(spec) &&
    prefers(ipFamilyPolicy) &&
    prefers(before.ipFamilyPolicy ?? ipFamilyPolicy) &&
    isDeepStrictEqual(clusterIPs, before.clusterIPs) &&
    isDeepStrictEqual(ipFamilies, before.ipFamilies)
  );
}

/** Going back to one family: what its writer left as it was follows the policy. */
function reduce(spec: ServiceSpec, before: ServiceSpec): Cause[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const { clusterIPs: addresses = [], ipFamilies: families = [] } = before;
  if (ipFamilyPolicy === 'SingleStack') {
    if (isDeepStrictEqual(clusterIPs, addresses) && clusterIPs.length > 1)
      spec.clusterIPs = clusterIPs.slice(0, 1);
    if (isDeepStrictEqual(ipFamilies, families) && ipFamilies.length > 1)
      spec.ipFamilies = ipFamilies.slice(0, 1);
    return [];
  }
  const isLess = (now: readonly string[], was: readonly string[]) =>
    now.length > 0 && now.length < was.length;
  const refuse = (what: string) =>
    invalidValue(policyField, ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`);
  return [
    ...(isLess(clusterIPs, addresses) ? [refuse('cluster IP')] : []),
    ...(isLess(ipFamilies, families) ? [refuse('IP family')] : []),
  ];
}

function policyCauses({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): Cause[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const refuse = (what: string) =>
    invalidValue(
      policyField,
      ipFamilyPolicy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(clusterIPs.length === 2 ? [refuse('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [refuse('IP families')] : []),
  ];
}

/** Addresses whose families are not said say them. */
function inferFamilies(spec: ServiceSpec, configured: readonly string[]): Cause[] {
  const { clusterIPs = [] } = spec;
  const families = [...(spec.ipFamilies ?? [])];
  const causes: Cause[] = [];
  for (const [index, address] of clusterIPs.entries()) {
    if (address === 'None') break;
    if (index < families.length) continue;
    const family = familyOf(address);
    if (configured.includes(family)) families.push(family);
    else {
      const detail = `${family} is not configured on this cluster`;
      causes.push(invalidValue(`spec.clusterIPs[${index}]`, clusterIPs, detail));
    }
  }
  if (families.length > 0) spec.ipFamilies = families;
  return causes;
}

function configuredCauses(
  { ipFamilyPolicy, ipFamilies = [] }: ServiceSpec,
  configured: readonly string[],
): Cause[] {
  const isDual = ipFamilyPolicy !== 'RequireDualStack' || configured.length > 1;
  return [
    ...(isDual
      ? []
      : [
          invalidValue(policyField, ipFamilyPolicy, 'this cluster is not configured for dual-stack services'),
        ]),
    ...ipFamilies.flatMap((family, index) =>
      configured.includes(family)
        ? []
        : [invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
  ];
}
