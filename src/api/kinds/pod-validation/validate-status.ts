import { checkName, checkQualifiedName } from '../../names/index.ts';
import { checkIP } from '../addresses.ts';
import { causesOf, duplicateValue, forbiddenValue, invalidUnless, invalidValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { ContainerStatus, PodSpec, PodStatus } from '../pods/types.ts';

/* Validates the observed state of a pod, and its changes. */

export function statusCauses(next: PodStatus, old: PodStatus, spec: PodSpec, path: string): Cause[] {
  const { nominatedNodeName = '' } = next;
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const policy = spec.restartPolicy ?? 'Always';
  return [
    ...causesOf(next.conditions, ({ type }, index) =>
      invalidUnless(`${path}.conditions[${index}].type`, type, checkQualifiedName(type)),
    ),
    ...(nominatedNodeName === '' || nominatedNodeName === old.nominatedNodeName
      ? []
      : invalidUnless(
          `${path}.nominatedNodeName`,
          nominatedNodeName,
          checkName('subdomain', nominatedNodeName),
        )),
    ...((next.qosClass ?? '') === (old.qosClass ?? '')
      ? []
      : [invalidValue(`${path}.qosClass`, next.qosClass ?? '', 'field is immutable')]),
    ...endedCauses(next.containerStatuses, old.containerStatuses, `${path}.containerStatuses`, policy),
    ...endedCauses(
      next.initContainerStatuses,
      old.initContainerStatuses?.filter(({ name }) => !sidecars.has(name)),
      `${path}.initContainerStatuses`,
      policy,
    ),
    ...endedCauses(
      next.ephemeralContainerStatuses,
      old.ephemeralContainerStatuses,
      `${path}.ephemeralContainerStatuses`,
      'Never',
    ),
    ...claimStatusCauses(next, spec, `${path}.resourceClaimStatuses`),
    ...addressCauses(next, path),
  ];
}

/** A container that has ended and is not restarted cannot leave that state. */
function endedCauses(
  next: readonly ContainerStatus[] | undefined,
  old: readonly ContainerStatus[] | undefined,
  path: string,
  policy: string,
): Cause[] {
  if (policy === 'Always') return [];
  const alive = new Set(next?.filter(({ state }) => state?.terminated === undefined).map(({ name }) => name));
  return causesOf(old, ({ name, state }, index) => {
    const ended = state?.terminated;
    const restarts = policy === 'OnFailure' && ended?.exitCode !== 0;
    if (ended === undefined || restarts || !alive.has(name)) return [];
    const wrong = 'may not be transitioned to non-terminated state';
    return [forbiddenValue(`${path}[${index}].state`, wrong)];
  });
}

function claimStatusCauses({ resourceClaimStatuses }: PodStatus, spec: PodSpec, path: string): Cause[] {
  const claims = new Set(spec.resourceClaims?.map(({ name }) => name));
  const earlier = new Set<string>();
  return causesOf(resourceClaimStatuses, ({ name }, index) => {
    const at = `${path}[${index}].name`;
    const again = earlier.has(name);
    earlier.add(name);
    return [
      ...(claims.has(name)
        ? []
        : [invalidValue(at, name, 'must match the name of an entry in `spec.resourceClaims`')]),
      ...(again ? [duplicateValue(at, name)] : []),
    ];
  });
}

function addressCauses({ podIPs = [], hostIP, hostIPs = [] }: PodStatus, path: string): Cause[] {
  const [first] = hostIPs;
  const wrongFirst = first !== undefined && first.ip !== hostIP;
  return [
    ...familyCauses(podIPs, `${path}.podIPs`),
    ...(wrongFirst ? [invalidValue(`${path}.hostIPs[0].ip`, first.ip, 'must be equal to `hostIP`')] : []),
    ...familyCauses(hostIPs, `${path}.hostIPs`),
  ];
}

/** At most one address of each family. */
function familyCauses(addresses: readonly { ip: string }[], path: string): Cause[] {
  const wrong = causesOf(addresses, ({ ip }, index) => invalidUnless(`${path}[${index}]`, ip, checkIP(ip)));
  if (wrong.length > 0) return wrong;
  const families = new Set(addresses.map(({ ip }) => ip.includes(':')));
  if (families.size === addresses.length) return [];
  const detail = 'may specify no more than one IP for each IP family';
  return [invalidValue(path, addresses, detail)];
}
