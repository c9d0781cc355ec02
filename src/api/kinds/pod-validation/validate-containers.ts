import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  notFoundValue,
  requiredValue,
  tooManyItems,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { Container, ContainerPort, EphemeralContainer, PodSpec } from '../pods/types.ts';
import { checkPort, checkPortName, labelName, oneOf } from './formats.ts';
import { envCauses, envFromCauses } from './validate-env.ts';
import type { VolumesByName } from './validate-mounts.ts';
import { deviceCauses, mountCauses } from './validate-mounts.ts';
import { probeCauses } from './validate-probes.ts';
import { resourceCauses } from './validate-resources.ts';
import { securityCauses } from './validate-security.ts';

/** The names that the containers of a pod can refer to. */
interface Surroundings {
  spec: PodSpec;
  volumes: VolumesByName;
  claims: ReadonlySet<string>;
  grace: number;
}

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const restartPolicies = ['Always', 'Never', 'OnFailure'];

/** Validates all three lists of containers; names are unique across them. */
export function containersCauses(spec: PodSpec, volumes: VolumesByName, path: string): Cause[] {
  const around: Surroundings = {
    ...{ spec, volumes },
    claims: new Set(spec.resourceClaims?.map(({ name }) => name)),
    grace: spec.terminationGracePeriodSeconds ?? 0,
  };
  const names = new Set<string>();
  return [
    ...(spec.containers.length === 0 ? [requiredValue(`${path}.containers`)] : []),
    ...causesOf(spec.containers, (container, index) => {
      const at = `${path}.containers[${index}]`;
      return [
        ...commonCauses(container, around, names, at),
        ...probeCauses(container, at, around.grace),
        ...restartCauses(container, at),
      ];
    }),
    ...hostPortCauses(spec, `${path}.containers`),
    ...causesOf(spec.initContainers, (container, index) => {
      const at = `${path}.initContainers[${index}]`;
      return [
        ...commonCauses(container, around, names, at),
        ...initCauses(container, at, around.grace),
        ...restartCauses(container, at),
      ];
    }),
    ...ephemeralCauses(around, names, `${path}.ephemeralContainers`),
  ];
}

function commonCauses(container: Container, around: Surroundings, names: Set<string>, at: string): Cause[] {
  const { name, image = '' } = container;
  const again = name !== '' && names.has(name);
  names.add(name);
  return [
    ...labelName(`${at}.name`, name),
    ...(again ? [duplicateValue(`${at}.name`, name)] : []),
    ...(image === '' ? [requiredValue(`${at}.image`)] : []),
    ...(image === image.trim()
      ? []
      : [invalidValue(`${at}.image`, image, 'must not have leading or trailing whitespace')]),
    ...oneOf(`${at}.terminationMessagePolicy`, container.terminationMessagePolicy, messagePolicies),
    ...portCauses(container.ports, `${at}.ports`),
    ...envCauses(container.env, `${at}.env`),
    ...envFromCauses(container.envFrom, `${at}.envFrom`),
    ...mountCauses(container, around.volumes, `${at}.volumeMounts`),
    ...deviceCauses(container, around.volumes, `${at}.volumeDevices`),
    ...oneOf(`${at}.imagePullPolicy`, container.imagePullPolicy, pullPolicies),
    ...resourceCauses(container.resources, around.claims, `${at}.resources`),
    ...resizeCauses(container, around.spec, `${at}.resizePolicy`),
    ...securityCauses(container.securityContext, `${at}.securityContext`, around.spec.hostUsers ?? true),
  ];
}

function portCauses(ports: readonly ContainerPort[] | undefined, path: string): Cause[] {
  const names = new Set<string>();
  return causesOf(ports, ({ name = '', containerPort, hostPort = 0, protocol }, index) => {
    const at = `${path}[${index}]`;
    const wrongName = name === '' ? undefined : checkPortName(name);
    const again = name !== '' && names.has(name);
    names.add(name);
    return [
      ...invalidUnless(`${at}.name`, name, wrongName),
      ...(again && wrongName === undefined ? [duplicateValue(`${at}.name`, name)] : []),
      ...(containerPort === 0
        ? [requiredValue(`${at}.containerPort`)]
        : invalidUnless(`${at}.containerPort`, containerPort, checkPort(containerPort))),
      ...(hostPort === 0 ? [] : invalidUnless(`${at}.hostPort`, hostPort, checkPort(hostPort))),
      ...oneOf(`${at}.protocol`, protocol, protocols),
    ];
  });
}

/** A port of the node is used once; on the host network it equals the container's port, once a template has become a pod. */
function hostPortCauses({ containers, hostNetwork }: PodSpec, path: string): Cause[] {
  const taken = new Set<string>();
  return causesOf(containers, ({ ports }, container) =>
    causesOf(ports, ({ protocol = '', hostIP = '', hostPort = 0, containerPort }, index) => {
      const field = `${path}[${container}].ports[${index}].hostPort`;
      const wrong = 'must match `containerPort` when `hostNetwork` is true';
      const place = `${protocol}/${hostIP}/${hostPort}`;
      const again = hostPort !== 0 && taken.has(place);
      taken.add(place);
      return [
        ...(again ? [duplicateValue(field, place)] : []),
        ...(hostNetwork && hostPort !== 0 && hostPort !== containerPort
          ? [invalidValue(field, hostPort, wrong)]
          : []),
      ];
    }),
  );
}

function resizeCauses({ resizePolicy }: Container, spec: PodSpec, path: string): Cause[] {
  const earlier = new Set<string>();
  return causesOf(resizePolicy, ({ resourceName, restartPolicy }, index) => {
    const again = earlier.has(resourceName);
    earlier.add(resourceName);
    const mustNot = spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired';
    const wrong = "must be 'NotRequired' when `restartPolicy` is 'Never'";
    return [
      ...(again ? [duplicateValue(`${path}[${index}]`, resourceName)] : []),
      ...oneOf(path, resourceName, ['cpu', 'memory']),
      ...oneOf(path, restartPolicy, ['NotRequired', 'RestartContainer']),
      ...(mustNot ? [invalidValue(path, restartPolicy, wrong)] : []),
    ];
  });
}

const rulesLimit = 20;
const exitCodesLimit = 255;

/** The restart policy of one container, in place of the pod's. */
function restartCauses({ restartPolicy, restartPolicyRules }: Container, at: string): Cause[] {
  const rules = `${at}.restartPolicyRules`;
  return [
    ...(restartPolicy === undefined ? [] : oneOf(`${at}.restartPolicy`, restartPolicy, restartPolicies)),
    ...(restartPolicyRules?.length && restartPolicy === undefined
      ? [requiredValue(`${at}.restartPolicy`, 'must specify restartPolicy when restart rules are used')]
      : []),
    ...((restartPolicyRules?.length ?? 0) > rulesLimit
      ? [tooManyItems(rules, restartPolicyRules?.length ?? 0, rulesLimit)]
      : []),
    ...causesOf(restartPolicyRules?.slice(0, rulesLimit), ({ action, exitCodes }, index) => [
      ...oneOf(`${rules}[${index}].action`, action, ['Restart', 'RestartAllContainers']),
      ...(exitCodes === undefined
        ? [requiredValue(`${rules}[${index}].exitCodes`, 'must be specified')]
        : exitCodeCauses(exitCodes, `${rules}[${index}].exitCodes`)),
    ]),
  ];
}

type ExitCodes = NonNullable<NonNullable<Container['restartPolicyRules']>[number]['exitCodes']>;

function exitCodeCauses({ operator, values = [] }: ExitCodes, at: string): Cause[] {
  const isTooMany = values.length > exitCodesLimit;
  return [
    ...oneOf(`${at}.operator`, operator, ['In', 'NotIn']),
    ...(isTooMany ? [tooManyItems(`${at}.values`, values.length, exitCodesLimit)] : []),
  ];
}

const notForInit = 'may not be set for init containers without restartPolicy=Always';

/** Only a sidecar container can have probes. */
function initCauses(container: Container, at: string, grace: number): Cause[] {
  if (container.restartPolicy === 'Always') return probeCauses(container, at, grace);
  return (['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const)
    .filter((name) => container[name] !== undefined)
    .map((name) => forbiddenValue(`${at}.${name}`, notForInit));
}

/** Fields that an ephemeral container cannot have, as it is not a part of the workload. */
const notForEphemeral = [
  ...(['ports', 'resources', 'resizePolicy', 'restartPolicy', 'restartPolicyRules'] as const),
  ...(['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const),
];

function ephemeralCauses(around: Surroundings, names: Set<string>, path: string): Cause[] {
  const { containers, initContainers = [], ephemeralContainers } = around.spec;
  const others = new Set([...containers, ...initContainers].map(({ name }) => name));
  return causesOf(ephemeralContainers, (container, index) => {
    const at = `${path}[${index}]`;
    const target = container.targetContainerName;
    return [
      ...commonCauses(container, around, names, at),
      ...(target && !others.has(target) ? [notFoundValue(`${at}.targetContainerName`, target)] : []),
      ...workloadCauses(container, at),
    ];
  });
}

function workloadCauses(container: EphemeralContainer, at: string): Cause[] {
  const wrong = 'cannot be set for an Ephemeral Container';
  return [
    ...notForEphemeral
      .filter((name) => hasContent(container[name]))
      .map((name) => forbiddenValue(`${at}.${name}`, wrong)),
    ...causesOf(container.volumeMounts, ({ subPath, subPathExpr }, index) => [
      ...(subPath ? [forbiddenValue(`${at}.volumeMounts[${index}].subPath`, wrong)] : []),
      ...(subPathExpr ? [forbiddenValue(`${at}.volumeMounts[${index}].subPathExpr`, wrong)] : []),
    ]),
  ];
}

function hasContent(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}
