import type { ApiObject, ObjectType } from '../kinds/index.ts';
import { apiVersionOf, objectStruct } from '../kinds/index.ts';

/** An object without all but its metadata, as the reference calls it. */
export const partialObjectMetadata: ObjectType = {
  group: 'meta',
  version: 'v1',
  kind: 'PartialObjectMetadata',
  root: objectStruct('PartialObjectMetadata', {}),
};

/** The metadata of an object, as an object of its own. */
export function toPartial({ metadata = {} }: ApiObject, groupSuffix: string) {
  const { kind } = partialObjectMetadata;
  return { kind, apiVersion: apiVersionOf(partialObjectMetadata, groupSuffix), metadata };
}
