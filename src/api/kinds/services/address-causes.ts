import { isIPv6 } from 'node:net';
import { checkIP } from '../addresses.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { oneOfIfSet } from '../pod-validation/formats.ts';
import type { ServiceSpec } from './description.ts';
import { hasHealthCheckPort, isHeadless, noAddress } from './needs.ts';

/* The addresses of a service, their families, and how both may change. */

const families = ['IPv4', 'IPv6'];
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const listed = 'spec.clusterIPs';

/** The causes why the addresses of a service are invalid, whether it has them already or not. */
export function clusterIpCauses(spec: ServiceSpec): Cause[] {
  if (spec.type === 'ExternalName') return [];
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const wrong = addressCauses(clusterIPs);
  return [
    ...firstCauses(spec),
    ...causesOf(ipFamilies, (family, index) => familyCauses(ipFamilies, family, index)),
    ...oneOfIfSet('spec.ipFamilyPolicy', ipFamilyPolicy, familyPolicies),
    ...wrong,
    ...(clusterIPs.length > 2 ? [invalidValue(listed, clusterIPs, 'may only hold up to 2 values')] : []),
    ...(wrong.length > 0 ? [] : pairCauses(spec)),
  ];
}

function firstCauses({ clusterIP = '', clusterIPs = [] }: ServiceSpec): Cause[] {
  if (clusterIP === (clusterIPs[0] ?? '')) return [];
  if (clusterIP === '')
    return [invalidValue(listed, clusterIPs, 'must be empty when `clusterIP` is not specified')];
  if (clusterIPs.length === 0) return [requiredValue(listed)];
  return [invalidValue(listed, clusterIPs, 'first value must match `clusterIP`')];
}

function familyCauses(all: readonly string[], family: string, index: number): Cause[] {
  const field = `spec.ipFamilies[${index}]`;
  return [
    ...(families.includes(family) ? [] : [unsupportedValue(field, family, families)]),
    ...(all.indexOf(family) < index ? [duplicateValue(field, family)] : []),
  ];
}

function addressCauses(addresses: readonly string[]): Cause[] {
  return causesOf(addresses, (address, index) => {
    if (index === 0 && address === noAddress) {
      const detail = "'None' must be the first and only value";
      return addresses.length > 1 ? [invalidValue(listed, addresses, detail)] : [];
    }
    return invalidUnless(`${listed}[${index}]`, address, checkIP(address));
  });
}

/** Of addresses that are valid by themselves. */
function pairCauses(spec: ServiceSpec): Cause[] {
  const { clusterIPs = [], ipFamilies = [] } = spec;
  const [first = '', second] = clusterIPs;
  const isOfTwo = clusterIPs.length === 2 && isIPv6(first) !== isIPv6(second ?? '');
  const causes: Cause[] = [];
  if (clusterIPs.length > 1 && !isOfTwo)
    causes.push(invalidValue(listed, clusterIPs, 'may specify no more than one IP for each IP family'));
  if (isHeadless(spec)) return causes;
  for (const [index, address] of clusterIPs.entries()) {
    const family = ipFamilies[index];
    if (family === undefined || family === familyOf(address) || !families.includes(family)) continue;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    causes.push(invalidValue(`${listed}[${index}]`, address, detail));
  }
  return causes;
}

/** `IPv4` or `IPv6`, of a valid address. */
export function familyOf(address: string): 'IPv4' | 'IPv6' {
  return isIPv6(address) ? 'IPv6' : 'IPv4';
}

const fixed = 'may not change once set';

/** The causes why a service cannot become `spec` from `before`. */
export function changeCauses(spec: ServiceSpec, before: ServiceSpec): Cause[] {
  const isBalanced = spec.type === 'LoadBalancer' && before.type === 'LoadBalancer';
  const isAlias = spec.type === 'ExternalName' || before.type === 'ExternalName';
  const isSamePort = spec.healthCheckNodePort === before.healthCheckNodePort;
  return [
    ...(isAlias || (isHeadless(spec) && isHeadless(before)) ? [] : addressChangeCauses(spec, before)),
    ...(isAlias || isHeadless(spec) || isHeadless(before) ? [] : familyChangeCauses(spec, before)),
    ...(isBalanced && spec.loadBalancerClass !== before.loadBalancerClass
      ? [invalidValue('spec.loadBalancerClass', spec.loadBalancerClass, fixed)]
      : []),
    ...(hasHealthCheckPort(spec) && hasHealthCheckPort(before) && !isSamePort
      ? [forbiddenValue('spec.healthCheckNodePort', 'field is immutable')]
      : []),
  ];
}

function addressChangeCauses(spec: ServiceSpec, before: ServiceSpec): Cause[] {
  const { clusterIPs: now = [], ipFamilyPolicy } = spec;
  const { clusterIPs: was = [] } = before;
  if (now.length === was.length)
    return was.flatMap((address, index) =>
      address === now[index] ? [] : [invalidValue(`${listed}[${index}]`, now, fixed)],
    );
  const isFirstChanged = was.length > 0 && now.length > 0 && now[0] !== was[0];
  const causes = isFirstChanged ? [invalidValue(`${listed}[0]`, now, fixed)] : [];
  if (now.length > was.length) return causes;
  if (now.length === 0) return [invalidValue(`${listed}[0]`, now, 'primary clusterIP can not be unset')];
  if (now.length === 1 && ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    causes.push(invalidValue('spec.ipFamilyPolicy', ipFamilyPolicy, detail));
  }
  return causes;
}

function familyChangeCauses(spec: ServiceSpec, before: ServiceSpec): Cause[] {
  const { ipFamilies: now = [], ipFamilyPolicy } = spec;
  const { ipFamilies: was = [] } = before;
  const field = 'spec.ipFamilies[0]';
  if (now.length === was.length)
    return was.flatMap((family, index) => (family === now[index] ? [] : [invalidValue(field, now, fixed)]));
  const isFirstChanged = was.length > 0 && now.length > 0 && now[0] !== was[0];
  const causes = isFirstChanged ? [invalidValue(field, now, fixed)] : [];
  if (now.length < was.length && now.length === 1 && ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    causes.push(invalidValue('spec.ipFamilyPolicy', ipFamilyPolicy, detail));
  }
  return causes;
}
