import type { Subject } from './story.ts';

/** What the stories are about; the comments say what matters of each here. */

/** `data` is a map in which each key is owned on its own. */
export const configMap: Subject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  path: '/api/v1/namespaces/default/configmaps',
};

/** `rules` is a list that is owned as a whole. */
export const clusterRole: Subject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
};

/** `status.conditions` is a list whose items are told apart by `type`; `status` has a path of its own. */
export const node: Subject = { apiVersion: 'v1', kind: 'Node', path: '/api/v1/nodes' };

/** Lists of many sorts, and most of `spec` cannot be changed. */
export const pod: Subject = { apiVersion: 'v1', kind: 'Pod', path: '/api/v1/namespaces/default/pods' };

/** `spec.drivers` is a list by `name`; each needs a `nodeID`. */
export const csiNode: Subject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  path: '/apis/storage.k8s.io/v1/csinodes',
};

/** The same objects can be seen through the core group. */
export const event: Subject = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  path: '/apis/events.k8s.io/v1/namespaces/default/events',
};

/** Whether it is granted, and with what, is told through two paths to the same status. */
export const signingRequest: Subject = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
};

/** It can be created by a PUT. */
export const lease: Subject = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  path: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
};
