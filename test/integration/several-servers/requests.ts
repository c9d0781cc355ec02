import type { RawRequest } from '../../../src/client/index.ts';

const core = '/api/v1/namespaces/default/configmaps';
const name = 'probe';

/** What a client may ask; `fresh` is answered only with what the store says now. */
export interface Probe extends RawRequest {
  readonly title: string;
}

function body(kind: string, apiVersion: string, more: object): string {
  return JSON.stringify({ kind, apiVersion, ...more });
}

const configMap = (given: string, data: object) =>
  body('ConfigMap', 'v1', { metadata: { name: given, namespace: 'default' }, data });

/** Needs the store. `mark` is in what is written, so that writes differ. */
export function needingTheStore(mark: string): readonly Probe[] {
  return [
    { title: 'get', method: 'GET', path: `${core}/${name}` },
    { title: 'list', method: 'GET', path: core },
    { title: 'list in chunks', method: 'GET', path: `${core}?limit=1` },
    { title: 'list of a kind of its own group', method: 'GET', path: '/apis/coordination.k8s.io/v1/leases' },
    { title: 'watch from the newest', method: 'GET', path: `${core}?watch=1&timeoutSeconds=1` },
    { title: 'create', method: 'POST', path: core, body: configMap(`made-${mark}`, {}) },
    { title: 'replace', method: 'PUT', path: `${core}/${name}`, body: configMap(name, { replaced: mark }) },
    {
      title: 'merge patch',
      method: 'PATCH',
      path: `${core}/${name}`,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify({ data: { merged: mark } }),
    },
    {
      title: 'JSON patch',
      method: 'PATCH',
      path: `${core}/${name}`,
      contentType: 'application/json-patch+json',
      body: JSON.stringify([{ op: 'add', path: '/data', value: { added: mark } }]),
    },
    {
      title: 'apply',
      method: 'PATCH',
      path: `${core}/${name}?fieldManager=probe&force=true`,
      contentType: 'application/apply-patch+yaml',
      body: configMap(name, { applied: mark }),
    },
    {
      title: 'replace by the same',
      method: 'PUT',
      path: `${core}/${name}`,
      body: configMap(name, { at: 'first' }),
    },
    { title: 'delete', method: 'DELETE', path: `${core}/${name}` },
    { title: 'delete what memory does not know', method: 'DELETE', path: `${core}/unknown` },
    { title: 'delete of a collection', method: 'DELETE', path: `${core}?labelSelector=none=such` },
  ];
}

/** Goes on without the store. */
export const fromMemory: readonly Probe[] = [
  { title: 'get at 0', method: 'GET', path: `${core}/${name}?resourceVersion=0` },
  { title: 'list at 0', method: 'GET', path: `${core}?resourceVersion=0` },
  { title: 'list of all namespaces at 0', method: 'GET', path: '/api/v1/configmaps?resourceVersion=0' },
  { title: 'watch from 0', method: 'GET', path: `${core}?watch=1&resourceVersion=0&timeoutSeconds=1` },
  {
    title: 'SelfSubjectAccessReview',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: body('SelfSubjectAccessReview', 'authorization.k8s.io/v1', {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    }),
  },
  {
    title: 'SubjectAccessReview',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: body('SubjectAccessReview', 'authorization.k8s.io/v1', {
      spec: { user: 'somebody', resourceAttributes: { verb: 'get', resource: 'pods' } },
    }),
  },
  {
    title: 'TokenReview',
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: body('TokenReview', 'authentication.k8s.io/v1', { spec: { token: 'not-one' } }),
  },
  { title: 'livez', method: 'GET', path: '/livez' },
  { title: 'metrics', method: 'GET', path: '/metrics' },
  { title: 'version', method: 'GET', path: '/version' },
];
