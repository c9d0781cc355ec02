import type { ApiObject, Cause, Kind, ObjectMeta } from '../kinds/index.ts';
import { checkLabelValue, checkName, checkNamePrefix, checkQualifiedName } from '../names/index.ts';

const annotationsLimitBytes = 256 * 1024;

/** Everything that is wrong with an object's metadata, for every kind alike. Looked at when the name is given. */
export function validateMetadata(kind: Kind, next: ApiObject, old: ApiObject | undefined): Cause[] {
  const meta = next.metadata ?? {};
  return [
    ...nameCauses(kind, meta),
    ...namespaceCauses(kind, meta),
    ...labelCauses(meta.labels ?? {}),
    ...annotationCauses(meta.annotations ?? {}),
    ...finalizerCauses(meta, old?.metadata),
    ...ownerCauses(meta),
  ];
}

/** Longer than any value that could be valid. */
const longestShown = 320;

function bad(field: string, value: string | number, message: string): Cause {
  const shown =
    typeof value === 'string' && value.length > longestShown ? `${value.slice(0, longestShown)}…` : value;
  return {
    reason: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${JSON.stringify(shown)}: ${message}`,
  };
}

function nameCauses(kind: Kind, meta: ObjectMeta): Cause[] {
  const causes: Cause[] = [];
  const wrongPrefix = meta.generateName ? checkNamePrefix(kind.nameRule, meta.generateName) : undefined;
  if (wrongPrefix !== undefined)
    causes.push(bad('metadata.generateName', meta.generateName ?? '', wrongPrefix));
  if (!meta.name) {
    const message = 'Required value: name or generateName is required';
    return [...causes, { reason: 'FieldValueRequired', field: 'metadata.name', message }];
  }
  const wrong = checkName(kind.nameRule, meta.name);
  return wrong === undefined ? causes : [...causes, bad('metadata.name', meta.name, wrong)];
}

function namespaceCauses(kind: Kind, meta: ObjectMeta): Cause[] {
  const field = 'metadata.namespace';
  if (!kind.namespaced) {
    if (!meta.namespace) return [];
    return [{ reason: 'FieldValueForbidden', field, message: 'Forbidden: not allowed on this type' }];
  }
  if (!meta.namespace) return [{ reason: 'FieldValueRequired', field, message: 'Required value' }];
  const wrong = checkName('label', meta.namespace);
  return wrong === undefined ? [] : [bad(field, meta.namespace, wrong)];
}

function labelCauses(labels: Record<string, string>): Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const wrongKey = checkQualifiedName(key);
    const wrongValue = checkLabelValue(value);
    return [
      ...(wrongKey === undefined ? [] : [bad('metadata.labels', key, wrongKey)]),
      ...(wrongValue === undefined ? [] : [bad('metadata.labels', value, wrongValue)]),
    ];
  });
}

function annotationCauses(annotations: Record<string, string>): Cause[] {
  const causes: Cause[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    const wrong = checkQualifiedName(key.toLowerCase());
    if (wrong !== undefined) causes.push(bad('metadata.annotations', key, wrong));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > annotationsLimitBytes) {
    const message = `Too long: may not be more than ${annotationsLimitBytes} bytes`;
    causes.push({ reason: 'FieldValueTooLong', field: 'metadata.annotations', message });
  }
  return causes;
}

/** Each says how the deletion goes on; the two contradict each other. */
const deletionFinalizers = ['orphan', 'foregroundDeletion'];

function finalizerCauses(meta: ObjectMeta, old: ObjectMeta | undefined): Cause[] {
  const finalizers = meta.finalizers ?? [];
  const causes = finalizers.flatMap((finalizer, index) => {
    const wrong = checkQualifiedName(finalizer);
    return wrong === undefined ? [] : [bad(`metadata.finalizers[${index}]`, finalizer, wrong)];
  });
  if (deletionFinalizers.every((finalizer) => finalizers.includes(finalizer))) {
    const message = `${deletionFinalizers.join(' and ')} cannot be both set`;
    causes.push(bad('metadata.finalizers', finalizers.join(), message));
  }
  if (old?.deletionTimestamp === undefined) return causes;
  const before = new Set(old.finalizers);
  const added = finalizers.filter((finalizer) => !before.has(finalizer));
  if (added.length > 0) {
    const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
    causes.push({ reason: 'FieldValueForbidden', field: 'metadata.finalizers', message });
  }
  return causes;
}

function ownerCauses(meta: ObjectMeta): Cause[] {
  const controllers = (meta.ownerReferences ?? []).filter((owner) => owner.controller);
  const causes = (meta.ownerReferences ?? []).flatMap((owner, index) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((name) => !owner[name])
      .map((name): Cause => {
        const field = `metadata.ownerReferences[${index}].${name}`;
        return { reason: 'FieldValueRequired', field, message: `Required value: ${name} must not be empty` };
      }),
  );
  if (controllers.length > 1) {
    causes.push(
      bad(
        'metadata.ownerReferences',
        controllers.length,
        'only one reference can have controller set to true',
      ),
    );
  }
  return causes;
}
