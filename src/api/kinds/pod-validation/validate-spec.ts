import { checkName } from '../../names/index.ts';
import { checkIP } from '../addresses.ts';
import { causesOf, forbiddenValue, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelCauses } from '../meta/label-selector.ts';
import type { PodDNSConfig, PodSpec } from '../pods/types.ts';
import { checkRange, labelName, oneOf, oneOfIfSet, subdomainIfSet } from './formats.ts';
import { affinityCauses } from './validate-affinity.ts';
import { containersCauses } from './validate-containers.ts';
import { podClaimCauses, quantityCauses, resourceCauses } from './validate-resources.ts';
import { gateCauses, spreadCauses, tolerationCauses } from './validate-scheduling.ts';
import { podSecurityCauses } from './validate-security.ts';
import { checkVolumes } from './validate-volumes.ts';

/** The causes why the spec of a pod is invalid. */
export function podSpecCauses(spec: PodSpec, podName: string, path: string): Cause[] {
  const volumes = checkVolumes(spec.volumes, podName, `${path}.volumes`);
  return [
    ...volumes.causes,
    ...podClaimCauses(spec.resourceClaims, `${path}.resourceClaims`),
    ...containersCauses(spec, volumes.valid, path),
    ...ofWholePodCauses(spec, `${path}.resources`),
    ...policyCauses(spec, path),
    ...labelCauses(spec.nodeSelector ?? {}, `${path}.nodeSelector`),
    ...podSecurityCauses(spec, `${path}.securityContext`),
    ...affinityCauses(spec.affinity, `${path}.affinity`),
    ...dnsCauses(spec, `${path}.dnsConfig`),
    ...gateCauses(spec, path),
    ...spreadCauses(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`),
    ...nameCauses(spec, path),
    ...tolerationCauses(spec.tolerations, `${path}.tolerations`),
    ...hostAliasCauses(spec.hostAliases, `${path}.hostAliases`),
    ...quantityCauses(spec.overhead ?? {}, `${path}.overhead`),
  ];
}

/** The causes for fields that a new pod cannot have. */
export function createCauses(spec: PodSpec, path: string): Cause[] {
  const ephemeral = (spec.ephemeralContainers ?? []).length > 0;
  const gated = Boolean(spec.nodeName) && (spec.schedulingGates ?? []).length > 0;
  return [
    ...(ephemeral ? [forbiddenValue(`${path}.ephemeralContainers`, 'cannot be set on create')] : []),
    ...(gated
      ? [forbiddenValue(`${path}.nodeName`, 'cannot be set until all schedulingGates have been cleared')]
      : []),
  ];
}

function ofWholePodCauses({ resources }: PodSpec, path: string): Cause[] {
  const { claims, ...rest } = resources ?? {};
  return [
    ...(claims === undefined
      ? []
      : [forbiddenValue(`${path}.claims`, 'claims cannot be set for Resources at pod-level')]),
    ...resourceCauses(rest, new Set(), path),
  ];
}

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const maxDeadlineLength = 2 ** 31 - 1;

function policyCauses(spec: PodSpec, path: string): Cause[] {
  const deadline = spec.activeDeadlineSeconds;
  return [
    ...oneOf(`${path}.restartPolicy`, spec.restartPolicy, ['Always', 'OnFailure', 'Never']),
    ...oneOf(`${path}.dnsPolicy`, spec.dnsPolicy, dnsPolicies),
    ...oneOfIfSet(`${path}.preemptionPolicy`, spec.preemptionPolicy, ['PreemptLowerPriority', 'Never']),
    ...(spec.os === undefined ? [] : oneOf(`${path}.os.name`, spec.os.name, ['linux', 'windows'])),
    ...(deadline === undefined
      ? []
      : invalidUnless(`${path}.activeDeadlineSeconds`, deadline, checkRange(deadline, 1, maxDeadlineLength))),
  ];
}

function nameCauses(spec: PodSpec, path: string): Cause[] {
  return [
    ...subdomainIfSet(`${path}.serviceAccountName`, spec.serviceAccountName),
    ...subdomainIfSet(`${path}.nodeName`, spec.nodeName),
    ...(spec.hostname ? labelName(`${path}.hostname`, spec.hostname) : []),
    ...(spec.subdomain ? labelName(`${path}.subdomain`, spec.subdomain) : []),
    ...subdomainIfSet(`${path}.priorityClassName`, spec.priorityClassName),
    ...(spec.runtimeClassName === undefined
      ? []
      : invalidUnless(
          `${path}.runtimeClassName`,
          spec.runtimeClassName,
          checkName('subdomain', spec.runtimeClassName),
        )),
  ];
}

/** A token volume of a pod needs a service account; a template leaves it to the pods, which get one. */
export function tokenVolumeCauses({ volumes, serviceAccountName }: PodSpec, path: string): Cause[] {
  if (serviceAccountName) return [];
  const wrong = 'must not be specified when serviceAccountName is not set';
  return causesOf(volumes, ({ projected }, volume) =>
    causesOf(projected?.sources, ({ serviceAccountToken }, index) => {
      const at = `${path}[${volume}].projected.sources[${index}].serviceAccountToken`;
      return serviceAccountToken === undefined ? [] : [forbiddenValue(at, wrong)];
    }),
  );
}

function hostAliasCauses(aliases: PodSpec['hostAliases'], path: string): Cause[] {
  return causesOf(aliases, ({ ip, hostnames }, index) => [
    ...invalidUnless(`${path}[${index}].ip`, ip, checkIP(ip)),
    ...causesOf(hostnames, (name, host) =>
      invalidUnless(`${path}[${index}].hostnames[${host}]`, name, checkName('subdomain', name)),
    ),
  ]);
}

const nameserversLimit = 3;
const searchesLimit = 32;
const searchCharactersLimit = 2048;

function dnsCauses({ dnsConfig, dnsPolicy }: PodSpec, path: string): Cause[] {
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined)
      return [requiredValue(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (!dnsConfig.nameservers?.length) {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [requiredValue(`${path}.nameservers`, detail)];
    }
  }
  const { nameservers = [], options }: PodDNSConfig = dnsConfig ?? {};
  return [
    ...(nameservers.length > nameserversLimit
      ? [
          invalidValue(
            `${path}.nameservers`,
            nameservers,
            `must not have more than ${nameserversLimit} nameservers`,
          ),
        ]
      : []),
    ...causesOf(nameservers, (address, index) =>
      invalidUnless(`${path}.nameservers[${index}]`, address, checkIP(address)),
    ),
    ...searchCauses(dnsConfig?.searches ?? [], `${path}.searches`),
    ...causesOf(options, ({ name }, index) =>
      name ? [] : [requiredValue(`${path}.options[${index}]`, 'must not be empty')],
    ),
  ];
}

function searchCauses(searches: readonly string[], path: string): Cause[] {
  const many = `must not have more than ${searchesLimit} search paths`;
  const long = `must not have more than ${searchCharactersLimit} characters (including spaces) in the search list`;
  return [
    ...(searches.length > searchesLimit ? [invalidValue(path, searches, many)] : []),
    ...(searches.join(' ').length > searchCharactersLimit ? [invalidValue(path, searches, long)] : []),
    ...causesOf(searches, (search, index) => {
      if (search === '.') return [];
      const name = search.replace(/\.$/, '');
      // underscores occur in names of services
      return invalidUnless(`${path}[${index}]`, name, checkName('subdomain', name.replaceAll('_', 'a')));
    }),
  ];
}
