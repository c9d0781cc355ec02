import { normalize } from 'node:path/posix';
import { checkName } from '../../names/index.ts';
import {
  causesOf,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  tooLongValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { checkNoBacksteps, labelName, oneOfIfSet, subdomainName } from '../pod-validation/formats.ts';
import { essentialCauses, hostPathCauses, nfsCauses } from '../pod-validation/source-causes.ts';
import { nodeSelectorCauses } from '../pod-validation/validate-affinity.ts';
import { billionths } from '../quantity.ts';
import { accessModes } from './display.ts';
import type { PersistentVolumeSpec } from './volume-description.ts';
import type { CSIPersistentVolumeSource } from './volume-sources.ts';
import { persistentSourcesOf } from './volume-sources.ts';

const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];
export const volumeModes = ['Block', 'Filesystem'];
const inline = 'in the context of inline volumes';
const notInline = `may not be specified ${inline}`;

/** The causes why the spec of a volume is invalid, in the reference's order; `isInline` where it stands in an attachment. */
export function volumeSpecCauses(spec: PersistentVolumeSpec, path: string, isInline: boolean): Cause[] {
  const modes = accessModeCauses(spec.accessModes, path);
  const sources = sourceCauses(spec, path);
  if (!isInline) return [...modes, ...ownCauses(spec, path), ...sources, ...classCauses(spec, path)];
  const { volumeMode, storageClassName, persistentVolumeReclaimPolicy: policy } = spec;
  const refused = (name: 'capacity' | 'claimRef' | 'nodeAffinity') =>
    spec[name] === undefined ? [] : [forbiddenValue(`${path}.${name}`, notInline)];
  return [
    ...refused('claimRef'),
    ...refused('capacity'),
    ...(spec.csi === undefined ? [requiredValue(`${path}.csi`, `has to be specified ${inline}`)] : []),
    ...modes,
    ...(policy && policy !== 'Retain'
      ? [forbiddenValue(`${path}.persistentVolumeReclaimPolicy`, `may only be Retain ${inline}`)]
      : []),
    ...refused('nodeAffinity'),
    ...sources,
    ...(storageClassName ? [forbiddenValue(`${path}.storageClassName`, notInline)] : []),
    ...(volumeMode !== undefined && volumeMode !== 'Filesystem'
      ? [forbiddenValue(`${path}.volumeMode`, `may not specify volumeMode other than Filesystem ${inline}`)]
      : []),
  ];
}

export function accessModeCauses(modes: readonly string[] = [], path: string): Cause[] {
  const field = `${path}.accessModes`;
  const isMixed =
    modes.includes('ReadWriteOncePod') &&
    modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode));
  return [
    ...(modes.length === 0 ? [requiredValue(field)] : []),
    ...causesOf(modes, (mode) =>
      accessModes.includes(mode) ? [] : [unsupportedValue(field, mode, accessModes)],
    ),
    ...(isMixed ? [forbiddenValue(field, 'may not use ReadWriteOncePod with other access modes')] : []),
  ];
}

function ownCauses({ nodeAffinity, ...spec }: PersistentVolumeSpec, path: string): Cause[] {
  const policy = spec.persistentVolumeReclaimPolicy || undefined;
  return [
    ...capacityCauses(spec.capacity ?? {}, `${path}.capacity`),
    ...oneOfIfSet(`${path}.persistentVolumeReclaimPolicy`, policy, reclaimPolicies),
    ...(nodeAffinity === undefined ? [] : affinityCauses(nodeAffinity, `${path}.nodeAffinity`)),
  ];
}

function classCauses(spec: PersistentVolumeSpec, path: string): Cause[] {
  const { storageClassName = '', volumeMode, volumeAttributesClassName: attributes } = spec;
  return [
    ...classNameCauses(`${path}.storageClassName`, storageClassName),
    ...oneOfIfSet(`${path}.volumeMode`, volumeMode, volumeModes),
    ...(attributes === undefined ? [] : attributesCauses(spec, attributes, path)),
  ];
}

function capacityCauses(capacity: Readonly<Record<string, string>>, path: string): Cause[] {
  const names = Object.keys(capacity);
  return [
    ...(names.length === 0 ? [requiredValue(path)] : []),
    ...(names.join() === 'storage' ? [] : [unsupportedValue(path, capacity, ['storage'])]),
    ...causesOf(Object.entries(capacity), ([name, quantity]) => positiveCauses(`${path}[${name}]`, quantity)),
  ];
}

export function positiveCauses(field: string, quantity: string): Cause[] {
  return billionths(quantity) > 0n ? [] : [invalidValue(field, quantity, 'must be greater than zero')];
}

/** Of the name of a class; the empty one is none. */
export function classNameCauses(field: string, name: string): Cause[] {
  return name === '' ? [] : invalidUnless(field, name, checkName('subdomain', name));
}

function attributesCauses({ csi }: PersistentVolumeSpec, name: string, path: string): Cause[] {
  const field = `${path}.volumeAttributesClassName`;
  return [
    ...(name === '' ? [requiredValue(field, 'an empty string is disallowed')] : classNameCauses(field, name)),
    ...(csi === undefined
      ? [requiredValue(`${path}.csi`, 'has to be specified when using volumeAttributesClassName')]
      : []),
  ];
}

function affinityCauses(
  { required }: NonNullable<PersistentVolumeSpec['nodeAffinity']>,
  path: string,
): Cause[] {
  if (required === undefined)
    return [requiredValue(`${path}.required`, 'must specify required node constraints')];
  return nodeSelectorCauses(required, `${path}.required`);
}

/** Required fields of the sources of storage systems. */
const essential: Readonly<Record<string, readonly string[]>> = {
  awsElasticBlockStore: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  azureFile: ['secretName', 'shareName'],
  cephfs: ['monitors'],
  cinder: ['volumeID'],
  flexVolume: ['driver'],
  gcePersistentDisk: ['pdName'],
  glusterfs: ['endpoints', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  local: ['path'],
  nfs: ['server', 'path'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  quobyte: ['registry', 'volume'],
  rbd: ['monitors', 'image'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  storageos: ['volumeName'],
  vsphereVolume: ['volumePath'],
};

/** Of several sources the first is validated, the others are refused. */
function sourceCauses(spec: PersistentVolumeSpec, path: string): Cause[] {
  const [first, ...others] = persistentSourcesOf(spec);
  if (first === undefined) return [requiredValue(path, 'must specify a volume type')];
  const { hostPath, nfs, local, csi, persistentVolumeReclaimPolicy: policy } = spec;
  const isRoot = hostPath !== undefined && normalize(hostPath.path).replace(/(?<=.)\/$/, '') === '/';
  return [
    ...essentialCauses(Reflect.get(spec, first), essential[first] ?? [], `${path}.${first}`),
    ...(first === 'hostPath' && hostPath !== undefined ? hostPathCauses(hostPath, `${path}.hostPath`) : []),
    ...(first === 'nfs' && nfs !== undefined ? nfsCauses(nfs, `${path}.nfs`) : []),
    ...(first === 'local' && local !== undefined ? localCauses(local.path, spec, path) : []),
    ...(first === 'csi' && csi !== undefined ? csiCauses(csi, `${path}.csi`) : []),
    ...others.map((name) => forbiddenValue(`${path}.${name}`, 'may not specify more than 1 volume type')),
    ...(isRoot && policy === 'Recycle'
      ? [
          forbiddenValue(
            `${path}.persistentVolumeReclaimPolicy`,
            "may not be 'recycle' for a hostPath mount of '/'",
          ),
        ]
      : []),
  ];
}

function localCauses(at: string, { nodeAffinity }: PersistentVolumeSpec, path: string): Cause[] {
  return [
    ...(at === '' ? [] : invalidUnless(`${path}.local.path`, at, checkNoBacksteps(at))),
    ...(nodeAffinity?.required === undefined
      ? [requiredValue(`${path}.nodeAffinity`, 'Local volume requires node affinity')]
      : []),
  ];
}

const driverNameLimit = 63;

/** The name of a driver: a subdomain, in which upper case is tolerated. */
export function driverNameCauses(field: string, name: string): Cause[] {
  return [
    ...(name === '' ? [requiredValue(field)] : []),
    ...(name.length > driverNameLimit ? [tooLongValue(field, driverNameLimit)] : []),
    ...invalidUnless(field, name, checkName('subdomain', name.toLowerCase())),
  ];
}

/** As in the reference, that of `nodeStageSecretRef` is not looked at. */
const secretFields = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

function csiCauses(csi: CSIPersistentVolumeSource, path: string): Cause[] {
  return [
    ...driverNameCauses(`${path}.driver`, csi.driver),
    ...(csi.volumeHandle === '' ? [requiredValue(`${path}.volumeHandle`)] : []),
    ...secretFields.flatMap((name) => {
      const reference = csi[name];
      if (reference === undefined) return [];
      const { name: secret, namespace = '' } = reference;
      return [
        ...subdomainName(`${path}.${name}.name`, secret),
        ...labelName(`${path}.${name}.namespace`, namespace),
      ];
    }),
  ];
}
