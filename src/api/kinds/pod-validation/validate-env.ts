import { checkDataKey, checkName, checkQualifiedName } from '../../names/index.ts';
import { causesOf, invalidUnless, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { EnvFromSource, EnvVar, ObjectFieldSelector, ResourceFieldSelector } from '../pods/types.ts';
import { billionths } from '../quantity.ts';
import { descendingPathCauses, labelName, notEmpty, subdomainName } from './formats.ts';

/* The environment, and the downward API within it. */

const printable = /^[ -<>-~]+$/;
const badName =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";

/** The fields of the pod that the environment can have. */
const envFields = [
  ...['metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName'],
  ...['status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
];

const resourceFields = [
  ...['limits.cpu', 'limits.ephemeral-storage', 'limits.memory'],
  ...['requests.cpu', 'requests.ephemeral-storage', 'requests.memory'],
];

export function envCauses(env: readonly EnvVar[] | undefined, path: string): Cause[] {
  return causesOf(env, (variable, index) => variableCauses(variable, `${path}[${index}]`));
}

function variableCauses({ name, value, valueFrom }: EnvVar, path: string): Cause[] {
  return [
    ...(name === ''
      ? [requiredValue(`${path}.name`)]
      : invalidUnless(`${path}.name`, name, printable.test(name) ? undefined : badName)),
    ...(valueFrom === undefined ? [] : valueFromCauses(valueFrom, value ?? '', `${path}.valueFrom`)),
  ];
}

type ValueFrom = NonNullable<EnvVar['valueFrom']>;

function valueFromCauses(from: ValueFrom, value: string, path: string): Cause[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = from;
  return [
    ...(fieldRef === undefined ? [] : fieldCauses(fieldRef, envFields, `${path}.fieldRef`)),
    ...(resourceFieldRef === undefined
      ? []
      : resourceFieldCauses(resourceFieldRef, `${path}.resourceFieldRef`)),
    ...(configMapKeyRef === undefined ? [] : keyCauses(configMapKeyRef, `${path}.configMapKeyRef`)),
    ...(secretKeyRef === undefined ? [] : keyCauses(secretKeyRef, `${path}.secretKeyRef`)),
    ...(fileKeyRef === undefined ? [] : fileKeyCauses(fileKeyRef, `${path}.fileKeyRef`)),
    ...countCauses(Object.values(from).filter((source) => source !== undefined).length, value, path),
  ];
}

function countCauses(sources: number, value: string, path: string): Cause[] {
  if (sources === 0) {
    const known = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    return [invalidValue(path, '', `must specify one of: ${known}`)];
  }
  if (value !== '') return [invalidValue(path, '', 'may not be specified when `value` is not empty')];
  return sources === 1
    ? []
    : [invalidValue(path, '', 'may not have more than one field specified at a time')];
}

const subscripted = /^(.+?)\['(.*)'\]$/s;

/** All fields of a pod that are known by a name; the last one is how old clients call `spec.nodeName`. */
const namedFields: ReadonlySet<string> = new Set([
  ...['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
  ...['spec.nodeName', 'spec.restartPolicy', 'spec.serviceAccountName', 'spec.schedulerName'],
  ...['status.phase', 'status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs', 'spec.host'],
]);

/** A field of the pod: one of `known`, or one label or annotation, `metadata.labels['app']`. */
export function fieldCauses(ref: ObjectFieldSelector, known: readonly string[], path: string): Cause[] {
  const { fieldPath = '', apiVersion } = ref;
  const field = `${path}.fieldPath`;
  if (fieldPath === '') return [requiredValue(field)];
  const unnamed = (why: string) => [invalidValue(field, fieldPath, `error converting fieldPath: ${why}`)];
  if (apiVersion !== 'v1') return unnamed(`unsupported pod version: ${apiVersion}`);
  const [, of, key = ''] = subscripted.exec(fieldPath) ?? [];
  if (of === 'metadata.annotations') return invalidUnless(path, key, checkQualifiedName(key.toLowerCase()));
  if (of === 'metadata.labels') return invalidUnless(path, key, checkQualifiedName(key));
  if (of !== undefined) return unnamed(`field label does not support subscript: ${fieldPath}`);
  if (!namedFields.has(fieldPath)) return unnamed(`field label not supported: ${fieldPath}`);
  const name = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  return known.includes(name) ? [] : [unsupportedValue(field, name, known)];
}

export function resourceFieldCauses(ref: ResourceFieldSelector, path: string): Cause[] {
  const { resource, divisor = '0' } = ref;
  const isKnown = resourceFields.includes(resource) || hugePages.test(resource);
  return [
    ...(resource === '' ? [requiredValue(`${path}.resource`)] : []),
    ...(resource === '' || isKnown ? [] : [unsupportedValue(`${path}.resource`, resource, resourceFields)]),
    ...divisorCauses(resource, divisor, `${path}.divisor`),
  ];
}

const hugePages = /^(?:limits|requests)\.hugepages-/;
/** How resources are called where a divisor does not fit them. */
const resourceWords: Readonly<Record<string, string>> = {
  cpu: 'cpu',
  memory: 'memory',
  'ephemeral-storage': 'local ephemeral storage',
};

function divisorCauses(resource: string, divisor: string, field: string): Cause[] {
  const size = billionths(divisor);
  const of = resource.slice(resource.indexOf('.') + 1);
  const word = hugePages.test(resource)
    ? 'hugepages'
    : resourceFields.includes(resource) && resourceWords[of];
  if (size === 0n || !word) return [];
  const units = of === 'cpu' ? ['1m', '1'] : memoryUnits;
  if (units.some((unit) => billionths(unit) === size)) return [];
  const divisors = of === 'cpu' ? '1m and 1' : memoryUnits.join(', ');
  const wrong = `only divisor's values ${divisors} are supported with the ${word} resource`;
  return [invalidValue(field, resource, wrong)];
}

const memoryUnits = [
  ...['1', '1k', '1M', '1G', '1T', '1P', '1E'],
  ...['1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
];

function keyCauses({ name = '', key }: NonNullable<ValueFrom['secretKeyRef']>, path: string): Cause[] {
  return [
    ...invalidUnless(`${path}.name`, name, checkName('subdomain', name)),
    ...(key === '' ? [requiredValue(`${path}.key`)] : invalidUnless(`${path}.key`, key, checkDataKey(key))),
  ];
}

function fileKeyCauses(ref: NonNullable<ValueFrom['fileKeyRef']>, path: string): Cause[] {
  return [
    ...labelName(`${path}.volumeName`, ref.volumeName),
    ...notEmpty(`${path}.path`, ref.path),
    ...descendingPathCauses(`${path}.path`, ref.path),
    ...notEmpty(`${path}.key`, ref.key),
  ];
}

export function envFromCauses(sources: readonly EnvFromSource[] | undefined, path: string): Cause[] {
  return causesOf(sources, ({ prefix = '', configMapRef, secretRef }, index) => {
    const at = `${path}[${index}]`;
    const both = configMapRef !== undefined && secretRef !== undefined;
    const none = configMapRef === undefined && secretRef === undefined;
    return [
      ...invalidUnless(`${at}.prefix`, prefix, prefix === '' || printable.test(prefix) ? undefined : badName),
      ...(configMapRef === undefined ? [] : subdomainName(`${at}.configMapRef.name`, configMapRef.name)),
      ...(secretRef === undefined ? [] : subdomainName(`${at}.secretRef.name`, secretRef.name)),
      ...(none ? [invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`')] : []),
      ...(both ? [invalidValue(path, '', 'may not have more than one field specified at a time')] : []),
    ];
  });
}
