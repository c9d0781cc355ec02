import { Buffer } from 'node:buffer';
import type { Encoding, Kind } from '../../../src/api/index.ts';
import { apiVersionOf, encodeObject, groupName, servedKinds } from '../../../src/api/index.ts';
import type { Chance } from './chance.ts';
import { mutateBytes, mutateObject } from './mutate.ts';
import { fuzzedPatch } from './patches.ts';
import { randomValue } from './random-object.ts';

export interface FuzzedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

const suffix = 'k8s.io';
const anyMethod = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'];
const collectionMethods = ['POST', 'POST', 'POST', 'GET', 'DELETE'];
const itemMethods = ['PUT', 'PUT', 'PATCH', 'PATCH', 'PATCH', 'GET', 'DELETE'];
const methodsOfVerbs = {
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  get: 'GET',
  delete: 'DELETE',
} as const;
const names = ['a', 'b', 'default', 'system:x', 'n0'];
const namespaces = ['default', 'default', 'kube-system', 'gone'];
const documents = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  '/openapi/v2',
  '/openapi/v3',
  '/version',
  '/healthz',
  '/metrics',
];
const oddSegments = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%00',
  '%2f',
  'ü',
  '%ff',
  'x'.repeat(300),
  'status',
  '*',
  ';a=b',
  '%',
];
const accepts = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  '*/*',
  'text/html',
  ';q=',
  ',,,',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  'application/vnd.cluster.protobuf;q=0.1,*/*;q=0',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
];
const parameters = [
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'pretty',
  'limit',
  'continue',
  'labelSelector',
  'fieldSelector',
  'resourceVersionMatch',
  'propagationPolicy',
  'gracePeriodSeconds',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'includeObject',
  'force',
  'orphanDependents',
  'unknown',
];
const values = [
  '',
  'All',
  'true',
  'false',
  '0',
  '1',
  '-1',
  'abc',
  'Strict',
  'Warn',
  'Ignore',
  'a=b',
  'a in (b,c)',
  '!a',
  'metadata.name=a',
  'metadata.name!=a,metadata.namespace=default',
  'spec.x=1',
  'Background',
  'Foreground',
  'Orphan',
  'Exact',
  'NotOlderThan',
  'None',
  'Object',
  '%00',
  '%ff',
  '\u0001',
  'x'.repeat(2000),
  '99999999999999999999',
  '(((((',
  'a,,b',
  '9'.repeat(15),
];
const mediaTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/** A request that is nearly right, or not at all. */
export function fuzzedRequest(chance: Chance): FuzzedRequest {
  const kind = chance.pick(servedKinds);
  const { target, method } = chance.oneIn(15)
    ? { target: chance.pick(['', '/a']), method: chance.pick(anyMethod) }
    : targetOf(kind, chance);
  const headers: Record<string, string> = {};
  if (chance.oneIn(3)) headers['accept'] = chance.pick(accepts);
  if (chance.oneIn(20)) headers['accept-encoding'] = chance.pick(['gzip', 'gzip;q=0', 'br', '*']);
  if (chance.oneIn(50)) headers['if-none-match'] = chance.pick(['*', '"a"', 'W/"b"', '']);
  const path = oddly(pathOf(kind, chance) + target, chance) + queryOf(method, chance);
  return { method, path, headers, body: bodyFor(method, kind, target, chance, headers) };
}

/** What follows the path of the collection, with a method that is served there. */
function targetOf(kind: Kind, chance: Chance): { target: string; method: string } {
  if (kind.virtual) return { target: '', method: 'POST' };
  const item = `/${chance.pick(names)}`;
  if (kind.subresources.length > 0 && chance.oneIn(4)) {
    const part = chance.pick(kind.subresources);
    const verbs = (['create', 'update', 'patch', 'get'] as const).filter((each) => part.verbs.includes(each));
    const verb = verbs.length === 0 ? 'get' : chance.pick(verbs);
    return { target: `${item}/${part.name}`, method: methodsOfVerbs[verb] };
  }
  return chance.oneIn(2)
    ? { target: '', method: chance.pick(collectionMethods) }
    : { target: item, method: chance.pick(itemMethods) };
}

/** Of a collection, or of something that is no object of the API. */
function pathOf(kind: Kind, chance: Chance): string {
  if (chance.oneIn(40)) return chance.pick(documents);
  const group = groupName(kind.group, suffix);
  const base = group === '' ? `/api/${kind.version}` : `/apis/${group}/${kind.version}`;
  const inside = kind.namespaced && !chance.oneIn(20) ? `/namespaces/${chance.pick(namespaces)}` : '';
  return `${base}${inside}/${kind.resource}`;
}

function oddly(path: string, chance: Chance): string {
  if (!chance.oneIn(15)) return path;
  const segments = path.split('/');
  segments[1 + chance.below(segments.length)] = chance.pick(oddSegments);
  return segments.join('/');
}

function queryOf(method: string, chance: Chance): string {
  const query: string[] = [];
  while (chance.oneIn(3) && query.length < 6) {
    const value = chance.pick(values);
    query.push(`${chance.pick(parameters)}=${value.startsWith('%') ? value : encodeURIComponent(value)}`);
  }
  if (method === 'PATCH' && !chance.oneIn(4))
    query.push(`fieldManager=${chance.pick(['one', 'two', 'three'])}`);
  if (method === 'GET' && chance.oneIn(40)) query.push('watch=1', 'timeoutSeconds=1');
  if (chance.oneIn(12)) query.push(`resourceVersion=${chance.pick(['0', '1', '7', '', 'x', '-1', '00'])}`);
  if (chance.oneIn(5000)) query.push('resourceVersion=999999999');
  return query.length === 0 ? '' : `?${query.join('&')}`;
}

function bodyFor(
  method: string,
  kind: Kind,
  target: string,
  chance: Chance,
  headers: Record<string, string>,
): Buffer | undefined {
  if (method === 'PATCH' && !chance.oneIn(40)) return patchOf(kind, target, chance, headers);
  return ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? bodyOf(kind, chance, headers) : undefined;
}

/** Of the object that the path names, mostly. */
function patchOf(kind: Kind, target: string, chance: Chance, headers: Record<string, string>): Buffer {
  const name = chance.oneIn(20) ? chance.pick(names) : (target.split('/')[1] ?? '');
  const { mediaType, body } = fuzzedPatch(kind, name, suffix, chance);
  headers['content-type'] = mediaType;
  return body;
}

function bodyOf(kind: Kind, chance: Chance, headers: Record<string, string>): Buffer | undefined {
  if (chance.oneIn(25)) return undefined;
  const encoding = chance.pick(['json', 'json', 'yaml', 'protobuf'] as const);
  headers['content-type'] = chance.oneIn(30) ? chance.pick(accepts) : mediaTypes[encoding];
  const part = kind.subresources.find(
    ({ body, connects }) => body !== undefined && !connects && chance.oneIn(4),
  );
  const type = part?.body ?? kind;
  const apiVersion = apiVersionOf(type, suffix);
  const random = randomValue(type.root, chance);
  const metadata = { name: chance.pick(names), ...(chance.oneIn(9) ? { finalizers: ['a/b'] } : {}) };
  const object = { kind: type.kind, apiVersion, ...(isObject(random) ? random : {}), metadata };
  const bytes = encodeObject(type, object, encoding);
  if (encoding === 'json' && chance.oneIn(3))
    return Buffer.from(JSON.stringify(mutateObject(object, chance)));
  return chance.oneIn(3) ? mutateBytes(Buffer.from(bytes), chance) : Buffer.from(bytes);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
