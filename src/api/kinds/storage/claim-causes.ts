import { checkName } from '../../names/index.ts';
import { forbiddenValue, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import { persistentVolumeClaimSpec } from '../pod-spec/claim-template.ts';
import { findDifferences } from '../pod-validation/difference.ts';
import { notEmpty, oneOfIfSet } from '../pod-validation/formats.ts';
import { billionths, isWhole } from '../quantity.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from './claim-description.ts';
import { classInAnnotation } from './display.ts';
import { accessModeCauses, classNameCauses, positiveCauses, volumeModes } from './volume-causes.ts';

/** The causes why the spec of a claim, or of a template of claims, is invalid. */
export function claimSpecCauses(spec: PersistentVolumeClaimSpec, path: string): Cause[] {
  const { accessModes = [] } = spec;
  const field = `${path}.accessModes`;
  return [
    ...(accessModes.length === 0 ? [requiredValue(field, 'at least 1 access mode is required')] : []),
    ...labelSelectorCauses(spec.selector, `${path}.selector`),
    ...(accessModes.length === 0 ? [] : accessModeCauses(accessModes, path)),
    ...sizeCauses(spec.resources?.requests?.['storage'], `${path}.resources[storage]`),
    ...classNameCauses(`${path}.storageClassName`, spec.storageClassName ?? ''),
    ...oneOfIfSet(`${path}.volumeMode`, spec.volumeMode, volumeModes),
    ...sourceCauses(spec, path),
    ...classNameCauses(`${path}.volumeAttributesClassName`, spec.volumeAttributesClassName ?? ''),
  ];
}

function sizeCauses(size: string | undefined, field: string): Cause[] {
  if (size === undefined) return [requiredValue(field)];
  const causes = positiveCauses(field, size);
  return causes.length > 0 || isWhole(size) ? causes : [invalidValue(field, size, 'must be an integer')];
}

type Source = NonNullable<PersistentVolumeClaimSpec['dataSourceRef']>;

function sourceCauses({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: string): Cause[] {
  const isElsewhere = Boolean(dataSourceRef?.namespace);
  const isSame =
    dataSource?.apiGroup === dataSourceRef?.apiGroup &&
    dataSource?.kind === dataSourceRef?.kind &&
    dataSource?.name === dataSourceRef?.name;
  const refuse = (detail: string) => [invalidValue(path, `${path}.dataSource`, detail)];
  return [
    ...(dataSource === undefined ? [] : referenceCauses(dataSource, `${path}.dataSource`)),
    ...(dataSourceRef === undefined ? [] : referenceCauses(dataSourceRef, `${path}.dataSourceRef`)),
    ...(dataSource === undefined || dataSourceRef === undefined
      ? []
      : isElsewhere
        ? refuse('may not be specified when dataSourceRef.namespace is specified')
        : isSame
          ? []
          : refuse('must match dataSourceRef')),
  ];
}

function referenceCauses({ apiGroup = '', kind, name, namespace = '' }: Source, path: string): Cause[] {
  const isCore = apiGroup === '' && kind !== 'PersistentVolumeClaim';
  const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  return [
    ...notEmpty(`${path}.name`, name),
    ...notEmpty(`${path}.kind`, kind),
    ...(isCore ? [invalidValue(path, kind, detail)] : []),
    ...(apiGroup === '' ? [] : invalidUnless(`${path}.apiGroup`, apiGroup, checkName('subdomain', apiGroup))),
    ...(namespace === '' ? [] : invalidUnless(`${path}.namespace`, namespace, checkName('label', namespace))),
  ];
}

const onlyAdded =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** The causes why a claim cannot become `next` from `old`: it is bound once, and can only grow. */
export function claimChangeCauses(next: PersistentVolumeClaim, old: PersistentVolumeClaim): Cause[] {
  const [spec, before] = [next.spec ?? {}, old.spec ?? {}];
  const [now, was] = [classInAnnotation(next) ?? '', classInAnnotation(old) ?? ''];
  const isFromAnnotation = isClassFromAnnotation(next, old);
  const changed = findDifferences(persistentVolumeClaimSpec, withoutAllowed(next, old), before, 'spec');
  return [
    ...(isFromAnnotation || now === was
      ? []
      : [
          invalidValue(
            'metadata.annotations.volume.beta.kubernetes.io/storage-class',
            now,
            'field is immutable',
          ),
        ]),
    ...(changed.length === 0 ? [] : [forbiddenValue('spec', `${onlyAdded}\nchanged: ${changed.join(', ')}`)]),
    ...shrinkCauses(spec, old),
    ...(spec.volumeMode === before.volumeMode
      ? []
      : [invalidValue('volumeMode', spec.volumeMode, 'field is immutable')]),
    ...attributesChangeCauses(spec.volumeAttributesClassName, before.volumeAttributesClassName),
  ];
}

/** A class that was said by the annotation may move into its field. */
function isClassFromAnnotation(next: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const [now, was] = [classInAnnotation(next), classInAnnotation(old)];
  return (
    was !== undefined &&
    old.spec?.storageClassName === undefined &&
    next.spec?.storageClassName === was &&
    (now === undefined || now === was)
  );
}

/** The spec of `next` with what may change as it was. */
function withoutAllowed(next: PersistentVolumeClaim, old: PersistentVolumeClaim): PersistentVolumeClaimSpec {
  const { spec: before = {} } = old;
  const spec = { ...next.spec };
  const isBound = next.status?.phase === 'Bound';
  const annotated = classInAnnotation(old);
  const isFirstClass =
    before.storageClassName === undefined && (annotated === undefined || annotated === spec.storageClassName);
  if (!before.volumeName) delete spec.volumeName;
  if (isFirstClass) delete spec.storageClassName;
  if (isBound && spec.resources?.requests !== undefined) {
    const { storage } = before.resources?.requests ?? {};
    const requests = { ...spec.resources.requests, ...(storage === undefined ? {} : { storage }) };
    spec.resources = { ...spec.resources, requests };
  }
  if (isBound && spec.volumeAttributesClassName !== undefined) {
    if (before.volumeAttributesClassName === undefined) delete spec.volumeAttributesClassName;
    else spec.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  return spec;
}

/** An expansion that was asked for may be taken back, as far as it has not happened. */
function shrinkCauses(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaim): Cause[] {
  const size = requestedSize(spec);
  const had = billionths(old.status?.capacity?.['storage'] ?? '0');
  if (size >= requestedSize(old.spec ?? {}) || size > had) return [];
  return [forbiddenValue('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

/** In billionths of a byte. */
export function requestedSize({ resources }: PersistentVolumeClaimSpec): bigint {
  return billionths(resources?.requests?.['storage'] ?? '0');
}

function attributesChangeCauses(now: string | undefined, was: string | undefined): Cause[] {
  if (was === undefined || now) return [];
  const what = now === undefined ? 'nil' : 'an empty string';
  return [
    forbiddenValue('spec.volumeAttributesClassName', `update from non-nil value to ${what} is forbidden`),
  ];
}

/** The causes why the state of a claim is invalid. */
export function claimStatusCauses({ status = {} }: PersistentVolumeClaim): Cause[] {
  const quantities = (name: 'capacity' | 'allocatedResources') =>
    Object.entries(status[name] ?? {}).flatMap(([resource, quantity]) =>
      billionths(quantity) < 0n
        ? [invalidValue(`status.${name}[${resource}]`, quantity, 'must be greater than or equal to 0')]
        : [],
    );
  return [...quantities('capacity'), ...quantities('allocatedResources')];
}
