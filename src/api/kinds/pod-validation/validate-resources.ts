import { checkName, checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  notFoundValue,
  requiredValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { PodResourceClaim, ResourceRequirements } from '../pods/types.ts';
import { billionths, isWhole } from '../quantity.ts';
import { labelName } from './formats.ts';

/* Resource requests, limits and claims. */

const standard = ['cpu', 'memory', 'ephemeral-storage'];
const hugePages = 'hugepages-';

/** `claims` are the names of the pod's resource claims. */
export function resourceCauses(
  resources: ResourceRequirements | undefined,
  claims: ReadonlySet<string>,
  path: string,
): Cause[] {
  const { limits = {}, requests = {} } = resources ?? {};
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const lonely = names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory');
  return [
    ...quantityCauses(limits, `${path}.limits`),
    ...quantityCauses(requests, `${path}.requests`),
    ...causesOf(Object.entries(requests), ([name, request]) =>
      requestCauses(name, request, limits[name], path),
    ),
    ...(lonely ? [forbiddenValue(path, 'HugePages require cpu or memory')] : []),
    ...claimUseCauses(resources?.claims, claims, `${path}.claims`),
  ];
}

function isHugePages(name: string): boolean {
  return name.startsWith(hugePages);
}

/** Names of resources, each with a quantity that is not less than zero. */
export function quantityCauses(quantities: Readonly<Record<string, string>>, path: string): Cause[] {
  return causesOf(Object.entries(quantities), ([name, quantity]) => {
    const at = `${path}[${name}]`;
    return [...nameCauses(name, at), ...amountCauses(name, quantity, at)];
  });
}

function nameCauses(name: string, at: string): Cause[] {
  const wrong = checkQualifiedName(name);
  if (wrong !== undefined) return [invalidValue(at, name, wrong)];
  if (!name.includes('/')) {
    if (standard.includes(name) || isHugePages(name)) return [];
    return [invalidValue(at, name, 'must be a standard resource for containers')];
  }
  const extended = isNative(name) || !name.startsWith('requests.');
  return extended ? [] : [invalidValue(at, name, "doesn't follow extended resource name standard")];
}

function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

function amountCauses(name: string, quantity: string, at: string): Cause[] {
  if (billionths(quantity) < 0n) return [invalidValue(at, quantity, 'must be greater than or equal to 0')];
  return isNative(name) || isWhole(quantity) ? [] : [invalidValue(at, quantity, 'must be an integer')];
}

/** A request is at most the limit, and equal to it for resources that cannot be shared. */
function requestCauses(name: string, request: string, limit: string | undefined, path: string): Cause[] {
  const shared = isNative(name) && !isHugePages(name);
  if (limit === undefined) {
    if (shared) return [];
    return [requiredValue(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const [asked, most] = [billionths(request), billionths(limit)];
  if (shared ? asked <= most : asked === most) return [];
  const relation = shared ? 'must be less than or equal to' : 'must be equal to';
  return [invalidValue(`${path}.requests`, request, `${relation} ${name} limit of ${limit}`)];
}

function claimUseCauses(
  uses: ResourceRequirements['claims'],
  claims: ReadonlySet<string>,
  path: string,
): Cause[] {
  const earlier = new Set<string>();
  return causesOf(uses, ({ name, request = '' }, index) => {
    const key = JSON.stringify([name, request]);
    const again = earlier.has(key);
    earlier.add(key);
    if (name === '') return [requiredValue(`${path}[${index}]`)];
    if (again) return [duplicateValue(`${path}[${index}]`, request === '' ? name : `${name}/${request}`)];
    return claims.has(name) ? [] : [notFoundValue(`${path}[${index}]`, name)];
  });
}

/** The claims of a pod: each with a name of its own and exactly one source. */
export function podClaimCauses(claims: readonly PodResourceClaim[] | undefined, path: string): Cause[] {
  const earlier = new Set<string>();
  return causesOf(claims, (claim, index) => {
    const at = `${path}[${index}]`;
    const again = earlier.has(claim.name);
    earlier.add(claim.name);
    return [
      ...(again && claim.name !== ''
        ? [duplicateValue(`${at}.name`, claim.name)]
        : labelName(`${at}.name`, claim.name)),
      ...claimSourceCauses(claim, at),
    ];
  });
}

function claimSourceCauses(claim: PodResourceClaim, at: string): Cause[] {
  const { resourceClaimName: name, resourceClaimTemplateName: template } = claim;
  const both = name !== undefined && template !== undefined;
  const none = name === undefined && template === undefined;
  return [
    ...(both
      ? [
          invalidValue(
            at,
            claim,
            'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
          ),
        ]
      : []),
    ...(none
      ? [invalidValue(at, claim, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')]
      : []),
    ...(name === undefined
      ? []
      : invalidUnless(`${at}.resourceClaimName`, name, checkName('subdomain', name))),
    ...(template === undefined
      ? []
      : invalidUnless(`${at}.resourceClaimTemplateName`, template, checkName('subdomain', template))),
  ];
}
