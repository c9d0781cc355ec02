import type { ApiObject, Cause, Kind, ObjectMeta, OwnerReference } from '../kinds/index.ts';
import {
  causesOf,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  labelCauses,
  requiredValue,
  tooLongValue,
} from '../kinds/index.ts';
import { checkFinalizerName, checkName, checkNamePrefix, checkQualifiedName } from '../names/index.ts';

const annotationsLimitBytes = 256 * 1024;

/**
 * All causes why an object's metadata is invalid, for every kind alike. Call it after a generated name is set. The name is
 * checked only at creation; it cannot change.
 */
export function validateMetadata(kind: Kind, next: ApiObject, old: ApiObject | undefined): Cause[] {
  const meta = next.metadata ?? {};
  const { labels, annotations, ownerReferences } = meta;
  const causes = old === undefined ? nameCauses(kind, meta) : [];
  causes.push(...namespaceCauses(kind, meta));
  if (labels !== undefined) causes.push(...labelCauses(labels, 'metadata.labels'));
  if (annotations !== undefined) causes.push(...annotationCauses(annotations));
  causes.push(...finalizerCauses(meta, old?.metadata));
  if (ownerReferences !== undefined) causes.push(...ownersCauses(ownerReferences));
  return causes;
}

/**
 * The causes why an update of the deletion fields is invalid: only a delete request sets them. `given` is the client's
 * metadata before that of the stored object is carried over.
 */
export function validateLifetime(given: ObjectMeta, old: ObjectMeta): Cause[] {
  const fixed = (name: 'deletionTimestamp' | 'deletionGracePeriodSeconds') => {
    const value = given[name];
    if (value === undefined || value === old[name]) return [];
    return [invalidValue(`metadata.${name}`, value, 'field is immutable')];
  };
  return [
    ...(old.deletionTimestamp === undefined ? fixed('deletionTimestamp') : []),
    ...fixed('deletionGracePeriodSeconds'),
  ];
}

function nameCauses(kind: Kind, { name, generateName }: ObjectMeta): Cause[] {
  const wrongPrefix = generateName ? checkNamePrefix(kind.nameRule, generateName) : undefined;
  return [
    ...invalidUnless('metadata.generateName', generateName, wrongPrefix),
    ...(name
      ? invalidUnless('metadata.name', name, checkName(kind.nameRule, name))
      : [requiredValue('metadata.name', 'name or generateName is required')]),
  ];
}

function namespaceCauses(kind: Kind, { namespace }: ObjectMeta): Cause[] {
  const field = 'metadata.namespace';
  if (!kind.namespaced) return namespace ? [forbiddenValue(field, 'not allowed on this type')] : [];
  if (!namespace) return [requiredValue(field)];
  return invalidUnless(field, namespace, checkName('label', namespace));
}

function annotationCauses(annotations: Readonly<Record<string, string>>): Cause[] {
  const field = 'metadata.annotations';
  const entries = Object.entries(annotations);
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return [
    ...causesOf(entries, ([key]) => invalidUnless(field, key, checkQualifiedName(key.toLowerCase()))),
    ...(bytes > annotationsLimitBytes ? [tooLongValue(field, annotationsLimitBytes)] : []),
  ];
}

/** Each requests a way of deletion; the two contradict each other. */
const deletionFinalizers = ['orphan', 'foregroundDeletion'];

function finalizerCauses({ finalizers = [] }: ObjectMeta, old: ObjectMeta | undefined): Cause[] {
  const field = 'metadata.finalizers';
  const causes = causesOf(finalizers, (finalizer, index) =>
    invalidUnless(`${field}[${index}]`, finalizer, checkFinalizerName(finalizer)),
  );
  if (deletionFinalizers.every((finalizer) => finalizers.includes(finalizer))) {
    const detail = `finalizer ${deletionFinalizers.join(' and ')} cannot be both set`;
    causes.push(invalidValue(field, finalizers, detail));
  }
  if (old?.deletionTimestamp === undefined) return causes;
  const before = new Set(old.finalizers);
  const added = finalizers.filter((finalizer) => !before.has(finalizer));
  if (added.length > 0) {
    const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
    causes.push(forbiddenValue(field, detail));
  }
  return causes;
}

function ownersCauses(owners: readonly OwnerReference[]): Cause[] {
  const path = 'metadata.ownerReferences';
  const causes = causesOf(owners, (owner, index) => ownerCauses(owner, `${path}[${index}]`));
  const [first, second] = owners.filter((owner) => owner.controller);
  if (first !== undefined && second !== undefined) {
    const both = [first, second].map(({ kind, name }) => `${kind}/${name}`).join(' and ');
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${both}`;
    causes.push(invalidValue(path, owners.length, detail));
  }
  return causes;
}

/** Reports empty fields; absent ones are reported by findMissingFields. */
function ownerCauses(owner: OwnerReference, path: string): Cause[] {
  const empty = (['apiVersion', 'kind', 'name', 'uid'] as const).filter((name) => owner[name] === '');
  return [
    ...empty.map((name) => requiredValue(`${path}.${name}`, 'must not be empty')),
    ...invalidUnless(`${path}.apiVersion`, owner.apiVersion, checkGroupVersion(owner.apiVersion || 'v1')),
    ...(owner.apiVersion === 'v1' && owner.kind === 'Event'
      ? [invalidValue(path, owner, '/v1, Kind=Event is disallowed from being an owner')]
      : []),
  ];
}

function checkGroupVersion(apiVersion: string): string | undefined {
  const parts = apiVersion.split('/');
  const parses = parts.length <= 2 && parts.at(-1) !== '';
  return parses ? undefined : 'must be <group>/<version> or <version>';
}
