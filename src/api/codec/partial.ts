import type { ApiObject, ObjectType } from '../kinds/index.ts';
import { apiVersionOf, objectStruct } from '../kinds/index.ts';

/** An object with nothing but its metadata; the name is the reference's. */
export const partialObjectMetadata: ObjectType = {
  group: 'meta',
  version: 'v1',
  kind: 'PartialObjectMetadata',
  root: objectStruct('PartialObjectMetadata', {}),
};

/** The metadata of an object as a PartialObjectMetadata. */
export function toPartial({ metadata = {} }: ApiObject, groupSuffix: string) {
  const { kind } = partialObjectMetadata;
  return { kind, apiVersion: apiVersionOf(partialObjectMetadata, groupSuffix), metadata };
}
