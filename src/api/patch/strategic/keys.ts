import type { ListType } from '../../schema/index.ts';
import { isRecord, typeNameOf } from '../../schema/index.ts';
import type { Place } from './place.ts';
import { failed, malformed } from './place.ts';

/** The key of an item of a patch. Throws when it has none. */
export function keyInPatch(type: ListType, item: unknown, place: Place): unknown {
  const name = keyName(type, place);
  if (!isRecord(item)) throw malformed(place, `expected an object, found ${typeNameOf(item)}`);
  if (!Object.hasOwn(item, name))
    throw malformed(place, `it has no ${name}, by which these items are told apart`);
  const key = item[name];
  if (!isRecord(key) && !Array.isArray(key)) return key;
  throw malformed(
    { parent: place, step: name },
    'items are told apart by it, so it can be no object or list',
  );
}

/** The key of an item of the object. Throws when it has none. */
export function keyInObject(type: ListType, item: unknown, place: Place): unknown {
  const name = keyName(type, place);
  if (isRecord(item) && Object.hasOwn(item, name)) return item[name];
  throw failed(place, `an item of the object has no ${name}, by which these items are told apart`);
}

function keyName(type: ListType, place: Place): string {
  if (type.patch?.key !== undefined) return type.patch.key;
  throw malformed(place, 'an object in a list of scalars');
}
