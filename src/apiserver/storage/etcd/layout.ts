/**
 * Where objects lie in etcd: as the reference has them, so that both can use one cluster. A key of ours is
 * `/registry/RESOURCE/…`; in etcd that is the configured prefix and the same, but for a few resources that keep names
 * from before they were called as they are (nodes are minions).
 *
 *     /registry/leases/kube-node-lease/a  →  PREFIX/leases/kube-node-lease/a
 *     /registry/nodes/a                   →  PREFIX/minions/a
 *
 * Keys that would meet there what is not theirs, and all that are no object's at all, lie in a part of our own.
 */

/** The beginning of every object's key. */
export const ourPrefix = '/registry/';

/** Of a resource to its place, where that is another name (reference: its default resource prefixes). */
export const places: ReadonlyMap<string, string> = new Map([
  ['endpoints/', 'services/endpoints/'],
  ['ingresses/', 'ingress/'],
  ['nodes/', 'minions/'],
  ['replicationcontrollers/', 'controllers/'],
  ['services/', 'services/specs/'],
  ['customresourcedefinitions/', 'apiextensions.k8s.io/customresourcedefinitions/'],
  ['apiservices/', 'apiregistration.k8s.io/apiservices/'],
]);

/** What is only ours: what the store is for, and keys that have no other place. */
export const ownPart = 'nodeward/';
export const keysPart = `${ownPart}keys/`;
/** Tells what the store is for. */
export const identityPart = `${ownPart}store`;
/** Written again and again to raise etcd's revision. */
export const raisePart = `${ownPart}raised`;
/** Is there while no server may write. */
export const readOnlyPart = `${ownPart}read-only`;
