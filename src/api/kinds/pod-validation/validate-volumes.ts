import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { sourcesOf } from '../pod-spec/volume.ts';
import type { Volume } from '../pods/types.ts';
import { billionths } from '../quantity.ts';
import {
  checkFileMode,
  checkNoBacksteps,
  labelName,
  notEmpty,
  oneOf,
  oneOfIfSet,
  subdomainName,
} from './formats.ts';
import { downwardFileCauses, fileCauses, projectionCauses } from './validate-projections.ts';

/* Volumes: a name of its own and exactly one source each. */

const hostPathTypes = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
];

/** Required fields of the sources of storage systems. */
const essential: Readonly<Record<string, readonly string[]>> = {
  awsElasticBlockStore: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  azureFile: ['secretName', 'shareName'],
  cephfs: ['monitors'],
  cinder: ['volumeID'],
  flexVolume: ['driver'],
  gcePersistentDisk: ['pdName'],
  gitRepo: ['repository'],
  glusterfs: ['endpoints', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  nfs: ['server', 'path'],
  persistentVolumeClaim: ['claimName'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  quobyte: ['registry', 'volume'],
  rbd: ['monitors', 'image'],
  scaleIO: ['gateway', 'system'],
  secret: ['secretName'],
  storageos: ['volumeName'],
  vsphereVolume: ['volumePath'],
};

export function volumeCauses(volumes: readonly Volume[] | undefined, path: string): Cause[] {
  const earlier = new Set<string>();
  return causesOf(volumes, (volume, index) => {
    const at = `${path}[${index}]`;
    const again = volume.name !== '' && earlier.has(volume.name);
    earlier.add(volume.name);
    return [
      ...sourceCauses(volume, at),
      ...labelName(`${at}.name`, volume.name),
      ...(again ? [duplicateValue(`${at}.name`, volume.name)] : []),
    ];
  });
}

/** Of several sources the first is validated, the others are refused. */
function sourceCauses(volume: Volume, at: string): Cause[] {
  const [first, ...others] = sourcesOf(volume);
  if (first === undefined) return [requiredValue(at, 'must specify a volume type')];
  const source: unknown = Reflect.get(volume, first);
  return [
    ...essentialCauses(source, essential[first] ?? [], `${at}.${first}`),
    ...localCauses(first, volume, at),
    ...contentCauses(first, volume, at),
    ...others.map((name) => forbiddenValue(`${at}.${name}`, 'may not specify more than 1 volume type')),
  ];
}

function essentialCauses(source: unknown, names: readonly string[], at: string): Cause[] {
  if (typeof source !== 'object' || source === null) return [];
  return names
    .filter((name) => {
      const value: unknown = Reflect.get(source, name);
      return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    })
    .map((name) => requiredValue(`${at}.${name}`));
}

/** Sources that the node itself provides. */
function localCauses(first: string, { hostPath, emptyDir, nfs, image }: Volume, at: string): Cause[] {
  if (first === 'hostPath' && hostPath !== undefined) {
    const { path, type } = hostPath;
    if (path === '') return [requiredValue(`${at}.hostPath.path`)];
    return [
      ...invalidUnless(`${at}.hostPath.path`, path, checkNoBacksteps(path)),
      ...oneOfIfSet(`${at}.hostPath.type`, type, hostPathTypes),
    ];
  }
  if (first === 'emptyDir' && billionths(emptyDir?.sizeLimit ?? '0') < 0n) {
    const wrong = 'SizeLimit field must be a valid resource quantity';
    return [forbiddenValue(`${at}.emptyDir.sizeLimit`, wrong)];
  }
  if (first === 'nfs' && nfs !== undefined && !nfs.path.startsWith('/')) {
    return nfs.path === '' ? [] : [invalidValue(`${at}.nfs.path`, nfs.path, 'must be an absolute path')];
  }
  if (first === 'image' && image !== undefined) {
    return [
      ...notEmpty(`${at}.image.reference`, image.reference),
      ...oneOf(`${at}.image.pullPolicy`, image.pullPolicy, ['Always', 'IfNotPresent', 'Never']),
    ];
  }
  return [];
}

/** Sources whose content comes from elsewhere. */
function contentCauses(first: string, volume: Volume, at: string): Cause[] {
  const { secret, configMap, downwardAPI, projected, csi, ephemeral } = volume;
  if (first === 'secret' && secret !== undefined) return filledCauses(secret, `${at}.secret`);
  if (first === 'configMap' && configMap !== undefined) {
    return [
      ...notEmpty(`${at}.configMap.name`, configMap.name),
      ...filledCauses(configMap, `${at}.configMap`),
    ];
  }
  if (first === 'downwardAPI' && downwardAPI !== undefined) {
    return [
      ...modeCauses(downwardAPI.defaultMode, `${at}.downwardAPI.defaultMode`),
      ...downwardFileCauses(downwardAPI.items, `${at}.downwardAPI.items`),
    ];
  }
  if (first === 'projected' && projected !== undefined) {
    return [
      ...modeCauses(projected.defaultMode, `${at}.projected.defaultMode`),
      ...projectionCauses(projected.sources, `${at}.projected`),
    ];
  }
  if (first === 'csi' && csi !== undefined) return csiCauses(csi, `${at}.csi`);
  if (first === 'ephemeral' && ephemeral?.volumeClaimTemplate === undefined)
    return [requiredValue(`${at}.ephemeral.volumeClaimTemplate`)];
  return [];
}

type Filled = Pick<NonNullable<Volume['secret']>, 'defaultMode' | 'items'>;

function filledCauses({ defaultMode, items }: Filled, at: string): Cause[] {
  return [...modeCauses(defaultMode, `${at}.defaultMode`), ...fileCauses(items, `${at}.items`)];
}

function modeCauses(mode: number | undefined, field: string): Cause[] {
  return mode === undefined ? [] : invalidUnless(field, mode, checkFileMode(mode));
}

function csiCauses({ driver, nodePublishSecretRef }: NonNullable<Volume['csi']>, at: string): Cause[] {
  return [
    ...subdomainName(`${at}.driver`, driver.toLowerCase()),
    ...(nodePublishSecretRef === undefined
      ? []
      : subdomainName(`${at}.nodePublishSecretRef.name`, nodePublishSecretRef.name)),
  ];
}
