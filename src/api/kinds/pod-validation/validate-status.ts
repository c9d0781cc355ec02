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
  const mayRestart = restartsOf(spec);
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
    ...endedCauses(next.containerStatuses, old.containerStatuses, `${path}.containerStatuses`, mayRestart),
    ...endedCauses(
      next.initContainerStatuses,
      old.initContainerStatuses?.filter(({ name }) => !sidecars.has(name)),
      `${path}.initContainerStatuses`,
      mayRestart,
    ),
    ...endedCauses(
      next.ephemeralContainerStatuses,
      old.ephemeralContainerStatuses,
      `${path}.ephemeralContainerStatuses`,
      () => false,
    ),
    ...claimStatusCauses(next, spec, `${path}.resourceClaimStatuses`),
    ...addressCauses(next, path),
  ];
}

/** Whether a container that ended with that code may run again. */
type MayRestart = (name: string, exitCode: number) => boolean;

/** By the first rule of the container that matches, else by its own policy, else by that of the pod. */
function restartsOf({ containers = [], initContainers = [], restartPolicy = 'Always' }: PodSpec): MayRestart {
  const all = [...initContainers, ...containers];
  const rules = all.flatMap(({ restartPolicyRules = [] }) => restartPolicyRules);
  const restartsAll = rules.some(({ action }) => action === 'RestartAllContainers');
  return (name, exitCode) => {
    const own = all.find((each) => each.name === name);
    const isRuled = own?.restartPolicyRules?.some(({ exitCodes }) => {
      const isListed = exitCodes?.values?.includes(exitCode) ?? false;
      return exitCodes?.operator === 'NotIn' ? !isListed : isListed;
    });
    const policy = own?.restartPolicy ?? restartPolicy;
    return (
      restartsAll || isRuled === true || policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
    );
  };
}

/** A container that has ended and is not restarted cannot leave that state. */
function endedCauses(
  next: readonly ContainerStatus[] | undefined,
  old: readonly ContainerStatus[] | undefined,
  path: string,
  mayRestart: MayRestart,
): Cause[] {
  const alive = new Set(next?.filter(({ state }) => state?.terminated === undefined).map(({ name }) => name));
  return causesOf(old, ({ name, state }, index) => {
    const ended = state?.terminated;
    if (ended === undefined || !alive.has(name) || mayRestart(name, ended.exitCode ?? 0)) return [];
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
