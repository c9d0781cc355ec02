import { causesOf, forbiddenValue, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import { signerNameCauses } from '../certificates/signer-name.ts';
import { checkBundleName } from '../certificates/trust-bundle-causes.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import type { KeyToPath, Volume, VolumeProjection } from '../pods/types.ts';
import { checkFileMode, filePathCauses, notEmpty } from './formats.ts';
import { fieldCauses, resourceFieldCauses } from './validate-env.ts';

/* The files of Secrets, ConfigMaps, the downward API and projected volumes. */

/** The fields of the pod that a file can have. */
const fileFields = [
  ...['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
];

export function fileCauses(items: readonly KeyToPath[] | undefined, path: string): Cause[] {
  return causesOf(items, ({ key, path: file, mode }, index) => {
    const at = `${path}[${index}]`;
    return [
      ...notEmpty(`${at}.key`, key),
      ...filePathCauses(`${at}.path`, file),
      ...(mode === undefined ? [] : invalidUnless(`${at}.mode`, mode, checkFileMode(mode))),
    ];
  });
}

type DownwardFile = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];

/** As in the reference, `at` is the source of the files: which of them is wrong is not said. */
export function downwardFileCauses(items: readonly DownwardFile[] | undefined, at: string): Cause[] {
  return causesOf(items, ({ path: file, fieldRef, resourceFieldRef, mode }) => [
    ...filePathCauses(`${at}.path`, file),
    ...downwardSourceCauses({ fieldRef, resourceFieldRef }, at),
    ...(mode === undefined ? [] : invalidUnless(`${at}.mode`, mode, checkFileMode(mode))),
  ]);
}

interface DownwardSource {
  fieldRef: DownwardFile['fieldRef'] | undefined;
  resourceFieldRef: DownwardFile['resourceFieldRef'] | undefined;
}

function downwardSourceCauses({ fieldRef, resourceFieldRef }: DownwardSource, at: string): Cause[] {
  if (fieldRef !== undefined) {
    const wrong = 'fieldRef and resourceFieldRef can not be specified simultaneously';
    return [
      ...fieldCauses(fieldRef, fileFields, `${at}.fieldRef`),
      ...(resourceFieldRef === undefined ? [] : [invalidValue(at, 'resource', wrong)]),
    ];
  }
  if (resourceFieldRef === undefined)
    return [requiredValue(at, 'one of fieldRef and resourceFieldRef is required')];
  if (!resourceFieldRef.containerName) return [requiredValue(`${at}.resourceFieldRef.containerName`)];
  return resourceFieldCauses(resourceFieldRef, `${at}.resourceFieldRef`);
}

/**
 * Validates the sources of a projected volume at `path`. Of what they name no two may be at the same path; a token may, as in the
 * reference: the node agent takes the later one.
 */
export function projectionCauses(sources: readonly VolumeProjection[] | undefined, path: string): Cause[] {
  const files = new Set<string>();
  return causesOf(sources, (source, index) => {
    const at = `${path}.sources[${index}]`;
    const isMany = Object.values(source).filter((each) => each !== undefined).length > 1;
    return [
      ...sourceCauses(source, path, at),
      ...namedFilesOf(source).flatMap(({ file, owner }) =>
        file === '' || addFile(files, file) ? [] : [invalidValue(path, owner, 'conflicting duplicate paths')],
      ),
      ...(isMany ? [forbiddenValue(at, 'may not specify more than 1 volume type per source')] : []),
    ];
  });
}

function addFile(files: Set<string>, file: string): boolean {
  const isNew = !files.has(file);
  files.add(file);
  return isNew;
}

interface NamedFile {
  readonly file: string;
  /** What a conflict is said of. */
  readonly owner: string;
}

function namedFilesOf({ secret, configMap, ...rest }: VolumeProjection): NamedFile[] {
  const { downwardAPI, clusterTrustBundle, podCertificate } = rest;
  const own = [
    ...(downwardAPI?.items ?? []).map(({ path }) => path),
    clusterTrustBundle?.path ?? '',
    podCertificate?.credentialBundlePath ?? '',
    podCertificate?.keyPath ?? '',
    podCertificate?.certificateChainPath ?? '',
  ];
  return [
    ...[secret, configMap].flatMap((named) =>
      (named?.items ?? []).map(({ path }) => ({ file: path, owner: named?.name ?? '' })),
    ),
    ...own.map((file = '') => ({ file, owner: file })),
  ];
}

function sourceCauses(source: VolumeProjection, path: string, at: string): Cause[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  return [
    ...(secret === undefined ? [] : namedFileCauses(secret, `${at}.secret`)),
    ...(configMap === undefined ? [] : namedFileCauses(configMap, `${at}.configMap`)),
    ...(downwardAPI === undefined ? [] : downwardFileCauses(downwardAPI.items, `${at}.downwardAPI`)),
    ...(serviceAccountToken === undefined
      ? []
      : tokenCauses(serviceAccountToken, path, `${at}.serviceAccountToken`)),
    ...(clusterTrustBundle === undefined ? [] : bundleCauses(clusterTrustBundle, `${at}.clusterTrustBundle`)),
    ...(podCertificate === undefined ? [] : certificateCauses(podCertificate, `${at}.podCertificate`)),
  ];
}

type Named = NonNullable<VolumeProjection['secret']>;

function namedFileCauses({ name, items }: Named, at: string): Cause[] {
  return [...notEmpty(`${at}.name`, name), ...fileCauses(items, `${at}.items`)];
}

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

type Token = NonNullable<VolumeProjection['serviceAccountToken']>;

/** As in the reference, what is wrong with the path of a token is said of the volume. */
function tokenCauses(
  { expirationSeconds = minTokenSeconds, path }: Token,
  volume: string,
  at: string,
): Cause[] {
  const field = `${at}.expirationSeconds`;
  const short = 'may not specify a duration less than 10 minutes';
  const long = 'may not specify a duration larger than 2^32 seconds';
  return [
    ...(expirationSeconds < minTokenSeconds ? [invalidValue(field, expirationSeconds, short)] : []),
    ...(expirationSeconds > maxTokenSeconds ? [invalidValue(field, expirationSeconds, long)] : []),
    ...filePathCauses(`${volume}.path`, path),
  ];
}

function bundleCauses(bundle: NonNullable<VolumeProjection['clusterTrustBundle']>, at: string): Cause[] {
  const { name, signerName, labelSelector, path } = bundle;
  const both = name !== undefined && signerName !== undefined;
  const none = name === undefined && signerName === undefined;
  return [
    ...(both ? [invalidValue(at, bundle, 'only one of name and signerName may be used')] : []),
    ...(none ? [requiredValue(at, 'either name or signerName must be specified')] : []),
    ...(name === undefined || both ? [] : bundleNameCauses(name, labelSelector, at)),
    ...(signerName === undefined || both ? [] : bundleSignerCauses(signerName, labelSelector, at)),
    ...filePathCauses(`${at}.path`, path),
  ];
}

type BundleSelector = NonNullable<VolumeProjection['clusterTrustBundle']>['labelSelector'];

function bundleNameCauses(name: string, labelSelector: BundleSelector, at: string): Cause[] {
  const field = `${at}.name`;
  const isUnset = 'labelSelector must be unset if name is specified';
  const wrong = checkBundleName(name, signerInName(name));
  return [
    ...(name === '' ? [requiredValue(field, 'must be a valid object name')] : []),
    ...(wrong === undefined
      ? []
      : [invalidValue(field, name, `not a valid clustertrustbundlename: ${wrong}`)]),
    ...(labelSelector === undefined ? [] : [invalidValue(`${at}.labelSelector`, labelSelector, isUnset)]),
  ];
}

/** Of `example.com:signer:name`; empty where the name has no signer. */
function signerInName(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf(':'))).replaceAll(':', '/');
}

function bundleSignerCauses(signerName: string, labelSelector: BundleSelector, at: string): Cause[] {
  const field = `${at}.signerName`;
  return [
    ...(signerName === ''
      ? [requiredValue(field, 'must be a valid signer name')]
      : signerNameCauses(field, signerName)),
    ...labelSelectorCauses(labelSelector, `${at}.labelSelector`),
  ];
}

type Certificate = NonNullable<VolumeProjection['podCertificate']>;

function certificateCauses(certificate: Certificate, at: string): Cause[] {
  const paths = (['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const).filter(
    (name) => certificate[name],
  );
  return [
    ...notEmpty(`${at}.signerName`, certificate.signerName),
    ...notEmpty(`${at}.keyType`, certificate.keyType),
    ...(paths.length === 0
      ? [requiredValue(at, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath')]
      : paths.flatMap((name) => filePathCauses(`${at}.${name}`, certificate[name]))),
  ];
}
