import { causesOf, forbiddenValue, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import type { KeyToPath, Volume, VolumeProjection } from '../pods/types.ts';
import { checkFileMode, checkFilePath, notEmpty } from './formats.ts';
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
      ...filePathCauses(file, `${at}.path`),
      ...(mode === undefined ? [] : invalidUnless(`${at}.mode`, mode, checkFileMode(mode))),
    ];
  });
}

function filePathCauses(file: string | undefined, field: string): Cause[] {
  return file ? invalidUnless(field, file, checkFilePath(file)) : [requiredValue(field)];
}

type DownwardFile = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];

export function downwardFileCauses(items: readonly DownwardFile[] | undefined, path: string): Cause[] {
  return causesOf(items, ({ path: file, fieldRef, resourceFieldRef, mode }, index) => {
    const at = `${path}[${index}]`;
    return [
      ...filePathCauses(file, `${at}.path`),
      ...downwardSourceCauses({ fieldRef, resourceFieldRef }, at),
      ...(mode === undefined ? [] : invalidUnless(`${at}.mode`, mode, checkFileMode(mode))),
    ];
  });
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

/** Validates the sources of a projected volume at `path`; no two of them may create the same file. */
export function projectionCauses(sources: readonly VolumeProjection[] | undefined, path: string): Cause[] {
  const files = new Set<string>();
  return causesOf(sources, (source, index) => {
    const again = filesOf(source).filter((file) => file !== '' && !addFile(files, file));
    return [
      ...oneSourceCauses(source, `${path}.sources[${index}]`),
      ...again.map((file) => invalidValue(path, file, 'conflicting duplicate paths')),
    ];
  });
}

function addFile(files: Set<string>, file: string): boolean {
  const isNew = !files.has(file);
  files.add(file);
  return isNew;
}

function filesOf(source: VolumeProjection): string[] {
  const { podCertificate } = source;
  return [
    ...[source.secret, source.configMap, source.downwardAPI].flatMap((part) =>
      (part?.items ?? []).map((item) => item.path),
    ),
    ...[source.serviceAccountToken, source.clusterTrustBundle].flatMap((part) => part?.path ?? []),
    podCertificate?.credentialBundlePath ?? '',
    podCertificate?.keyPath ?? '',
    podCertificate?.certificateChainPath ?? '',
  ];
}

function oneSourceCauses(source: VolumeProjection, at: string): Cause[] {
  const [first, ...others] = (
    [
      ...(['secret', 'configMap', 'downwardAPI'] as const),
      ...(['serviceAccountToken', 'clusterTrustBundle', 'podCertificate'] as const),
    ] as const
  ).filter((name) => source[name] !== undefined);
  if (first === undefined) return [requiredValue(at, 'must specify a volume type')];
  return [
    ...sourceCauses({ [first]: source[first] }, at),
    ...others.map((name) =>
      forbiddenValue(`${at}.${name}`, 'may not specify more than 1 volume type per source'),
    ),
  ];
}

function sourceCauses(source: VolumeProjection, at: string): Cause[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (secret !== undefined) return namedFileCauses(secret, `${at}.secret`);
  if (configMap !== undefined) return namedFileCauses(configMap, `${at}.configMap`);
  if (downwardAPI !== undefined) return downwardFileCauses(downwardAPI.items, `${at}.downwardAPI.items`);
  if (serviceAccountToken !== undefined) return tokenCauses(serviceAccountToken, `${at}.serviceAccountToken`);
  if (clusterTrustBundle !== undefined) return bundleCauses(clusterTrustBundle, `${at}.clusterTrustBundle`);
  return podCertificate === undefined ? [] : certificateCauses(podCertificate, `${at}.podCertificate`);
}

type Named = NonNullable<VolumeProjection['secret']>;

function namedFileCauses({ name, items }: Named, at: string): Cause[] {
  return [...notEmpty(`${at}.name`, name), ...fileCauses(items, `${at}.items`)];
}

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

function tokenCauses(token: NonNullable<VolumeProjection['serviceAccountToken']>, at: string): Cause[] {
  const { expirationSeconds = minTokenSeconds, path } = token;
  const field = `${at}.expirationSeconds`;
  const short = 'may not specify a duration less than 10 minutes';
  const long = 'may not specify a duration larger than 2^32 seconds';
  return [
    ...(expirationSeconds < minTokenSeconds ? [invalidValue(field, expirationSeconds, short)] : []),
    ...(expirationSeconds > maxTokenSeconds ? [invalidValue(field, expirationSeconds, long)] : []),
    ...filePathCauses(path, `${at}.path`),
  ];
}

function bundleCauses(bundle: NonNullable<VolumeProjection['clusterTrustBundle']>, at: string): Cause[] {
  const { name, signerName, labelSelector, path } = bundle;
  const both = name !== undefined && signerName !== undefined;
  const none = name === undefined && signerName === undefined;
  return [
    ...(both ? [invalidValue(at, bundle, 'only one of name and signerName may be used')] : []),
    ...(none ? [requiredValue(at, 'either name or signerName must be specified')] : []),
    ...(name !== undefined && labelSelector !== undefined
      ? [invalidValue(`${at}.labelSelector`, labelSelector, 'must not be set when name is specified')]
      : []),
    ...labelSelectorCauses(labelSelector, `${at}.labelSelector`),
    ...filePathCauses(path, `${at}.path`),
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
      : paths.flatMap((name) => filePathCauses(certificate[name], `${at}.${name}`))),
  ];
}
