import type { ApiObject, Kind } from '../../../api/index.ts';
import type { ObjectEncoding } from '../encoding.ts';
import type { Follower } from '../follower.ts';

/** What counting needs of a resource. */
export interface StoredKind<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  readonly encoding: ObjectEncoding<T>;
  prefix(namespace: string): string;
  placeOf(key: string): { readonly namespace: string; readonly name: string };
  follow(follower: Follower): Disposable;
}
