import type { Scale } from '../autoscaling/v1-description.ts';
import { scaleRoot } from '../autoscaling/v1-description.ts';
import { defineBody } from '../define.ts';
import type { ApiObject, Cause, Subresource } from '../kind.ts';
import type { LabelSelector } from '../meta/label-selector.ts';
import { notNegative } from '../pod-validation/formats.ts';
import { selectorText } from './display.ts';

/** How many pods an object has and is to have: one form for all kinds that make pods. */
export const scaleBody = defineBody<Scale>({
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  doc: 'How many pods something has and is to have.',
  root: scaleRoot,
  validate: ({ spec }): Cause[] => notNegative('spec.replicas', spec?.replicas),
});

/** What has a number of pods. */
interface Scaled extends ApiObject {
  spec?: { replicas?: number };
  status?: { replicas?: number };
}

/** The subresource that shows and changes nothing but the number of pods. */
export function scalePart<T extends Scaled>({
  selector,
}: {
  /** Selects the pods. */
  selector(object: T): LabelSelector | undefined;
}): Subresource {
  return {
    name: 'scale',
    verbs: ['get', 'patch', 'update'],
    fields: ['spec.replicas'],
    shared: true,
    body: scaleBody,
    view: {
      show: (object: T): Scale => ({
        metadata: identify(object),
        spec: { replicas: object.spec?.replicas ?? 0 },
        status: { replicas: object.status?.replicas ?? 0, selector: selectorText(selector(object)) },
      }),
      merge: (object: T, { spec }: Scale): T => ({
        ...object,
        spec: { ...object.spec, replicas: spec?.replicas ?? 0 },
      }),
      configure: ({ spec }: Scale): Scaled =>
        spec?.replicas === undefined ? {} : { spec: { replicas: spec.replicas } },
    },
  };
}

/** Which object it is, and which state of it. */
function identify({ metadata = {} }: ApiObject): NonNullable<Scale['metadata']> {
  const names = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'] as const;
  return Object.fromEntries(
    names.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]]])),
  );
}
