import type { ApiObject, ObjectType } from '../../../api/index.ts';
import { partialObjectMetadata, toPartial } from '../../../api/index.ts';
import type { Form } from '../negotiation/negotiate.ts';

export interface Projection {
  type: ObjectType;
  project(object: ApiObject): ApiObject;
}

/** Leaves objects as they are, or reduces them to their metadata (PartialObjectMetadata). */
export function resolveProjection({ as }: Form, type: ObjectType, groupSuffix: string): Projection {
  if (as !== 'partial') return { type, project: (object) => object };
  return { type: partialObjectMetadata, project: (object) => toPartial(object, groupSuffix) };
}
