/**
 * Where objects are stored in etcd: as the reference stores them, so that both can use one cluster. A key of ours is
 * `/registry/RESOURCE/…`; in etcd it is the configured prefix and the same rest, except for some resources that are
 * stored under an earlier name (nodes are minions).
 *
 *     /registry/leases/kube-node-lease/a  →  PREFIX/leases/kube-node-lease/a
 *     /registry/nodes/a                   →  PREFIX/minions/a
 *
 * Keys that would collide there with others, and all keys that are not of objects, are stored in a part of our own.
 */

/** The beginning of every object's key. */
export const ourPrefix = '/registry/';

/** From a resource to its place, where the names differ (reference: its default resource prefixes). */
export const places: ReadonlyMap<string, string> = new Map([
  ['endpoints/', 'services/endpoints/'],
  ['ingresses/', 'ingress/'],
  ['nodes/', 'minions/'],
  ['replicationcontrollers/', 'controllers/'],
  ['services/', 'services/specs/'],
  ['customresourcedefinitions/', 'apiextensions.k8s.io/customresourcedefinitions/'],
  ['apiservices/', 'apiregistration.k8s.io/apiservices/'],
]);

/** Only ours: the store's record, and keys that have no other place. */
export const ownPart = 'nodeward/';
export const keysPart = `${ownPart}keys/`;
/** Holds the store's record. */
export const identityPart = `${ownPart}store`;
/** Written again and again to raise etcd's revision. */
export const raisePart = `${ownPart}raised`;
/** Exists while no server may write. */
export const readOnlyPart = `${ownPart}read-only`;
