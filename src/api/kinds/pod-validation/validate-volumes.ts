import { checkName, checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelCauses } from '../meta/label-selector.ts';
import { sourcesOf } from '../pod-spec/volume.ts';
import type { Volume } from '../pods/types.ts';
import { billionths } from '../quantity.ts';
import { claimSpecCauses } from '../storage/claim-causes.ts';
import { driverNameCauses } from '../storage/volume-causes.ts';
import { checkFileMode, labelName, notEmpty, oneOf } from './formats.ts';
import { essentialCauses, hostPathCauses, nfsCauses } from './source-causes.ts';
import type { VolumesByName } from './validate-mounts.ts';
import { downwardFileCauses, fileCauses, projectionCauses } from './validate-projections.ts';

/* Volumes: a name of its own and exactly one source each. */

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
  scaleIO: ['gateway', 'system', 'volumeName'],
  secret: ['secretName'],
  storageos: ['volumeName'],
  vsphereVolume: ['volumePath'],
};

/** The causes why volumes are invalid, and the others by name: containers can mount only those. */
export function checkVolumes(
  volumes: readonly Volume[] | undefined,
  podName: string,
  path: string,
): { readonly causes: Cause[]; readonly valid: VolumesByName } {
  const valid = new Map<string, Volume>();
  const made = new Set(volumes?.flatMap(({ name, ephemeral }) => (ephemeral ? [`${podName}-${name}`] : [])));
  const causes = causesOf(volumes, (volume, index) => {
    const at = `${path}[${index}]`;
    const own = [
      ...sourceCauses(volume, podName, at),
      ...labelName(`${at}.name`, volume.name),
      ...(valid.has(volume.name) ? [duplicateValue(`${at}.name`, volume.name)] : []),
    ];
    if (own.length === 0) valid.set(volume.name, volume);
    const claim = volume.persistentVolumeClaim?.claimName ?? '';
    if (podName === '' || !made.has(claim)) return own;
    const detail = 'must not reference a PVC that gets created for an ephemeral volume';
    return [...own, invalidValue(`${at}.persistentVolumeClaim.claimName`, claim, detail)];
  });
  return { causes, valid };
}

/** Of several sources the first is validated, the others are refused. */
function sourceCauses(volume: Volume, podName: string, at: string): Cause[] {
  const [first, ...others] = sourcesOf(volume);
  if (first === undefined) return [requiredValue(at, 'must specify a volume type')];
  const source: unknown = Reflect.get(volume, first);
  return [
    ...essentialCauses(source, essential[first] ?? [], `${at}.${first}`),
    ...localCauses(first, volume, at),
    ...contentCauses(first, volume, at),
    ...(first === 'ephemeral' ? claimNameCauses(volume.name, podName, at) : []),
    ...others.map((name) => forbiddenValue(`${at}.${name}`, 'may not specify more than 1 volume type')),
  ];
}

/** Sources that the node itself provides. */
function localCauses(first: string, { hostPath, emptyDir, nfs, image }: Volume, at: string): Cause[] {
  if (first === 'hostPath' && hostPath !== undefined) return hostPathCauses(hostPath, `${at}.hostPath`);
  if (first === 'emptyDir' && billionths(emptyDir?.sizeLimit ?? '0') < 0n) {
    const wrong = 'SizeLimit field must be a valid resource quantity';
    return [forbiddenValue(`${at}.emptyDir.sizeLimit`, wrong)];
  }
  if (first === 'nfs' && nfs !== undefined) return nfsCauses(nfs, `${at}.nfs`);
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
      ...downwardFileCauses(downwardAPI.items, `${at}.downwardAPI`),
    ];
  }
  if (first === 'projected' && projected !== undefined) {
    return [
      ...modeCauses(projected.defaultMode, `${at}.projected.defaultMode`),
      ...projectionCauses(projected.sources, `${at}.projected`),
    ];
  }
  if (first === 'csi' && csi !== undefined) return csiCauses(csi, `${at}.csi`);
  if (first === 'ephemeral') return templateCauses(ephemeral?.volumeClaimTemplate, at);
  return [];
}

type Template = NonNullable<Volume['ephemeral']>['volumeClaimTemplate'];

/** The claim is made as the template says, so it is checked with the pod. */
function templateCauses(template: Template, at: string): Cause[] {
  const path = `${at}.ephemeral.volumeClaimTemplate`;
  if (template === undefined) return [requiredValue(path)];
  const { annotations = {}, labels = {}, ...others } = template.metadata ?? {};
  return [
    ...causesOf(Object.keys(annotations), (key) =>
      invalidUnless(`${path}.metadata.annotations`, key, checkQualifiedName(key.toLowerCase())),
    ),
    ...labelCauses(labels, `${path}.metadata.labels`),
    ...causesOf(Object.entries(others), ([name, value]) =>
      value === undefined ? [] : [forbiddenValue(`${path}.metadata.${name}`, 'cannot be set')],
    ),
    ...claimSpecCauses(template.spec, `${path}.spec`),
  ];
}

type Filled = Pick<NonNullable<Volume['secret']>, 'defaultMode' | 'items'>;

function filledCauses({ defaultMode, items }: Filled, at: string): Cause[] {
  return [...modeCauses(defaultMode, `${at}.defaultMode`), ...fileCauses(items, `${at}.items`)];
}

function modeCauses(mode: number | undefined, field: string): Cause[] {
  return mode === undefined ? [] : invalidUnless(field, mode, checkFileMode(mode));
}

/** The claim of an ephemeral volume is named after the pod and the volume. */
function claimNameCauses(volume: string, podName: string, at: string): Cause[] {
  const claim = `${podName}-${volume}`;
  const wrong = podName === '' || volume === '' ? undefined : checkName('subdomain', claim);
  return invalidUnless(`${at}.name`, volume, wrong && `PVC name ${JSON.stringify(claim)}: ${wrong}`);
}

function csiCauses({ driver, nodePublishSecretRef }: NonNullable<Volume['csi']>, at: string): Cause[] {
  const secret = nodePublishSecretRef?.name ?? '';
  return [
    ...driverNameCauses(`${at}.driver`, driver),
    ...(nodePublishSecretRef !== undefined && secret === ''
      ? [requiredValue(`${at}.nodePublishSecretRef.name`)]
      : []),
    ...(secret === '' ? [] : invalidUnless(`${at}.name`, secret, checkName('subdomain', secret))),
  ];
}
