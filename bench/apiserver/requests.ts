import type { Sent } from './connection.ts';

/** One kind of work, asked for again and again. */
export interface Work {
  what: string;
  /** CPU per request, milliseconds. */
  targetCpuMs?: number;
  /** For large answers: how long one may take, milliseconds. */
  targetMs?: number;
  count: number;
  connections: number;
  request(index: number): Sent;
}

const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const protobuf = { accept: 'application/vnd.kubernetes.protobuf' };
const yaml = { accept: 'application/yaml' };
const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
const gzip = { accept: 'application/json', 'accept-encoding': 'gzip' };

const role = (index: number, bench: string) =>
  JSON.stringify({
    metadata: { name: `bench-${index}`, labels: { bench } },
    rules: [
      { apiGroups: [''], resources: ['pods', 'pods/log', 'services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'], resourceNames: ['a', 'b'] },
      { nonResourceURLs: ['/healthz', '/metrics/*'], verbs: ['get'] },
    ],
  });
const roleAt = (index: number) => `${clusterRoles}/bench-${index}`;
const rolesBy = (limit: number) => `${clusterRoles}?limit=${limit}`;

/**
 * The life of so many ClusterRoles. The targets are a quarter of what the reference takes, and for lists those of the
 * architecture for 10,000, scaled.
 */
export function workOn(count: number, connections: number): Work[] {
  const get = (headers?: Record<string, string>) => (index: number) => ({
    method: 'GET',
    path: roleAt(index),
    ...(headers && { headers }),
  });
  const list = (headers?: Record<string, string>) => () => ({
    method: 'GET',
    path: clusterRoles,
    ...(headers && { headers }),
  });
  const many = { count, connections };
  const single = { count: 20, connections: 1 };
  const put = (index: number) => ({ method: 'PUT', path: roleAt(index), body: role(index, 'again') });
  return [
    {
      what: 'create a ClusterRole',
      targetCpuMs: 0.225,
      ...many,
      request: (index) => ({ method: 'POST', path: clusterRoles, body: role(index, 'first') }),
    },
    { what: 'get it', targetCpuMs: 0.125, ...many, request: get() },
    { what: 'get it as protobuf', ...many, request: get(protobuf) },
    { what: 'get it as YAML', ...many, request: get(yaml) },
    { what: 'get it as Table', ...many, request: get(table) },
    { what: 'update it', targetCpuMs: 0.325, ...many, request: put },
    { what: `list all ${count}`, targetMs: 15 * (count / 10_000), ...single, request: list() },
    { what: 'list them compressed', ...single, request: list(gzip) },
    { what: 'list them as protobuf', ...single, request: list(protobuf) },
    { what: 'list them as Table', ...single, request: list(table) },
    {
      what: 'list them by a label that nobody has',
      targetMs: 4 * (count / 10_000),
      ...single,
      request: () => ({ method: 'GET', path: `${clusterRoles}?labelSelector=nobody%3Dhas-it` }),
    },
    { what: 'list the first 500', ...single, request: () => ({ method: 'GET', path: rolesBy(500) }) },
    {
      what: 'delete it',
      targetCpuMs: 0.2625,
      ...many,
      request: (index) => ({ method: 'DELETE', path: roleAt(index) }),
    },
  ];
}
