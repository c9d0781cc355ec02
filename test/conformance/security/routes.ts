import assert from 'node:assert/strict';
import { isRecord } from '../../../src/api/index.ts';
import type { ApiTester } from '../../unit/apiserver/support/api-tester.ts';
import type { Asker } from './asker.ts';

export interface Route {
  method: string;
  path: string;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const wellKnown = [
  '/',
  '/healthz',
  '/livez',
  '/readyz',
  '/metrics',
  '/version',
  '/api',
  '/apis',
  '/openapi/v2',
];
const issuer = ['/openapi/v3', '/.well-known/openid-configuration', '/openid/v1/jwks'];
/** Served nowhere, in any place where something else is. */
const unknown = [
  '/nothing',
  '/api/v2',
  '/api/v1/nothing',
  '/api/v1/namespaces/default/nothing/x',
  '/api/v1/namespaces/default/pods/x/nothing',
  '/apis/nothing.example',
  '/apis/apps/v1/deployments',
  '/debug/pprof/',
  '/logs/',
  '/configz',
  '/openapi/v4',
];

/** What is for everybody, whoever they are: whoever balances servers has no credentials. */
export const openPaths: readonly string[] = [
  '/healthz',
  '/healthz/ping',
  '/healthz/shutdown',
  '/healthz/storage',
  '/healthz/storage-writes',
  '/livez',
  '/livez/ping',
  '/livez/storage',
  '/readyz',
  '/readyz/ping',
  '/readyz/shutdown',
  '/readyz/storage',
  '/readyz/storage-writes',
  '/version',
];

/** The paths that somebody may read. */
export async function readable(who: Asker, routes: readonly Route[]): Promise<string[]> {
  const found = new Set<string>();
  await forEach(routes, async ({ method, path }) => {
    if (method === 'GET' && (await who.ask(method, path)).code < 300) found.add(path.split('?', 1)[0] ?? '');
  });
  return [...found].sort();
}

/** Every path that the server says it has, by its index, discovery and OpenAPI, and some that it has not. */
export async function everyPath(admin: ApiTester): Promise<string[]> {
  const index = await read(admin, '/');
  assert.ok(Array.isArray(index['paths']));
  const documents = index['paths'].map(String);
  const { paths: described } = await read(admin, '/openapi/v2');
  assert.ok(isRecord(described));
  const discovered = await Promise.all(documents.filter(isVersion).map((path) => discoveredIn(admin, path)));
  const resources = [...Object.keys(described).map(filledIn), ...discovered.flat()];
  for (const path of [...wellKnown, ...issuer]) assert.ok(path === '/' || documents.includes(path), path);
  assert.ok(resources.length > 60, 'the server describes what it has');
  return [...new Set([...wellKnown, ...issuer, ...documents, ...resources, ...unknown])].sort();
}

/** Those with every method, and lists as watches too. */
export function everyRoute(paths: readonly string[]): Route[] {
  const asked = paths.flatMap((path) => methods.map((method) => ({ method, path })));
  return [...asked, ...paths.map((path) => ({ method: 'GET', path: `${path}?watch=1` }))];
}

/** Asks all of them, some at a time. */
export async function forEach<T>(items: readonly T[], ask: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const work = async () => {
    for (const item of left) await ask(item);
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

async function read(admin: ApiTester, path: string): Promise<Record<string, unknown>> {
  const { code, text } = await admin.request('GET', path);
  assert.equal(code, 200, `${path}: ${text}`);
  const value: unknown = JSON.parse(text);
  assert.ok(isRecord(value));
  return value;
}

function isVersion(path: string): boolean {
  return /^\/(api|apis\/[^/]+)\/v[^/]+$/.test(path);
}

async function discoveredIn(admin: ApiTester, groupVersion: string): Promise<string[]> {
  const { resources } = await read(admin, groupVersion);
  assert.ok(Array.isArray(resources));
  return resources.flatMap(({ name, namespaced }: { name: string; namespaced: boolean }) => {
    const [resource, subresource] = name.split('/');
    const within = namespaced ? ['/namespaces/default', ''] : [''];
    const collections = within.map((place) => `${groupVersion}${place}/${resource}`);
    if (subresource !== undefined) return collections.map((path) => `${path}/canary/${subresource}`);
    return collections.flatMap((path) => [path, `${path}/canary`]);
  });
}

/** The one Secret that there is to find is called so, in both namespaces. */
function filledIn(path: string): string {
  return path.replace('{namespace}', 'default').replace(/\{[^}]+\}/g, 'canary');
}
