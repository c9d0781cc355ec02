/**
 * What code one request runs through: `node bench/way.ts [files] [FOLDER]`. A control plane with its store in SQLite runs
 * in this process; after a warm-up the precise coverage of V8 counts, for a single request of each kind, the files below
 * `src`, the functions and the calls on the main thread. `files` lists them. FOLDER is the `src` of another tree, to
 * compare two of them.
 *
 * Of several requests the one with the fewest calls counts: a timer may come in between.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Sent } from './apiserver/connection.ts';
import { Connection, requestBytes } from './apiserver/connection.ts';
import { expectSuccess } from './apiserver/load.ts';
import { asNodes, asUser } from './apiserver/node-identities.ts';
import { leaseBody, leases, nameOf, versionIn } from './apiserver/renewals.ts';
import type { Way } from './coverage.ts';
import { Coverage } from './coverage.ts';
import { printRow } from './report.ts';

const [folder] = process.argv.slice(2).filter((argument) => argument !== 'files');
const src = resolve(folder ?? join(import.meta.dirname, '../src'));
const warmUp = 200;
const tries = 20;

type Ask = () => Promise<unknown>;

async function main(): Promise<void> {
  const { runApiServer }: typeof import('../src/apiserver/index.ts') = await load('apiserver');
  const { silentLogger, systemClock }: typeof import('../src/base/index.ts') = await load('base');
  const rootDir = await mkdtemp(join(tmpdir(), 'nodeward-way-'));
  const stop = new AbortController();
  const serving = Promise.withResolvers<string>();
  const options = {
    rootDir,
    groupSuffix: 'k8s.io',
    bindAddress: '127.0.0.1',
    securePort: 0,
    storage: 'sqlite',
    clock: systemClock,
    log: silentLogger(),
  } as const;
  const running = runApiServer(options, stop.signal, ({ url }) => serving.resolve(url));
  try {
    await Promise.race([running, serving.promise]);
    await measureAll(rootDir, await serving.promise);
  } finally {
    stop.abort();
    await running;
    await rm(rootDir, { recursive: true, force: true });
  }
}

/** A module of the tree that is measured. */
function load(module: string) {
  return import(join(src, module, 'index.ts'));
}

async function measureAll(rootDir: string, url: string): Promise<void> {
  const read = (name: string) => readFile(join(rootDir, 'pki', name), 'utf8');
  const [ca, cert, key] = [await read('ca.crt'), await read('admin.crt'), await read('admin.key')];
  const place = { folder: rootDir, target: { url, pid: process.pid, ca, cert, key } };
  const [node = place.target] = await asNodes(place, 1);
  using admin = await Connection.open(place.target);
  using agent = await Connection.open(node);
  using user = await Connection.open(await asUser(place, 'user-0', ['devs']));
  const send = async (connection: Connection, request: Sent) => {
    const reply = await connection.ask(requestBytes(request));
    expectSuccess(reply);
    return reply;
  };
  for (const request of objects) await send(admin, request);
  let version = versionIn(await send(agent, { method: 'POST', path: leases, body: leaseBody(0, '', 0) }));
  let renewals = 0;
  const renew = async () => {
    const body = leaseBody(0, version, ++renewals);
    version = versionIn(await send(agent, { method: 'PUT', path: `${leases}/${nameOf(0)}`, body }));
  };
  printRow(['request', 'files', 'functions', 'calls']);
  await measureWay('renew a Lease, as its node', renew);
  await measureWay('SubjectAccessReview', () => send(admin, review));
  await measureWay('GET of a ConfigMap, as a user with a role', () => send(user, get));
}

async function measureWay(what: string, ask: Ask): Promise<void> {
  for (let count = 0; count < warmUp; count++) await ask();
  using coverage = new Coverage(pathToFileURL(`${src}/`).href);
  let shortest: Way | undefined;
  for (let count = 0; count < tries; count++) {
    await delay(20); // what the one before has left to do is done
    coverage.start();
    await ask();
    const way = coverage.take();
    if (shortest === undefined || way.calls < shortest.calls) shortest = way;
  }
  if (shortest === undefined) return;
  printRow([what, ...[shortest.files.length, shortest.functions, shortest.calls].map(String)]);
  if (!process.argv.includes('files')) return;
  for (const { path, calls } of shortest.files) process.stdout.write(`  ${path}  ${calls.join(' ')}\n`);
}

const name = 'user-0';
const namespaced = '/api/v1/namespaces/default/configmaps';
const rbac = 'rbac.authorization.k8s.io';
const objects: readonly Sent[] = [
  { method: 'POST', path: namespaced, body: JSON.stringify({ metadata: { name: 'a' }, data: { b: 'c' } }) },
  {
    method: 'POST',
    path: `/apis/${rbac}/v1/namespaces/default/rolebindings`,
    body: JSON.stringify({
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', apiGroup: rbac, name }],
    }),
  },
];
const get: Sent = { method: 'GET', path: `${namespaced}/a` };
const resourceAttributes = { verb: 'list', resource: 'pods', namespace: 'default' };
const review: Sent = {
  method: 'POST',
  path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  body: JSON.stringify({ spec: { user: name, resourceAttributes } }),
};

await main();
