/** Whatever stands in the path of a request, nothing is written outside the folder, and nothing breaks. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join, relative } from 'node:path';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { checkName } from '../../src/api/index.ts';
import { chooseSeed } from '../support/repetition.ts';
import type { Site } from './checkpoint/site.ts';
import { openSite, runsOn, startWorkload } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';

before(ensureBuilt);

/** Requests with a path as it is, over connections that stay. */
async function requester({ pki, agent }: Site) {
  const [ca, cert, key] = await Promise.all(
    ['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFile(join(pki, name))),
  );
  const connections = new Agent({ keepAlive: true, maxSockets: 4, ca, cert, key });
  const { port } = new URL(agent.summary.agent);
  return {
    post: (path: string) =>
      new Promise<number>((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, method: 'POST', agent: connections };
        const sent = request(options, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
        });
        sent.once('error', reject).end();
      }),
    [Symbol.dispose]: () => connections.destroy(),
  };
}

const isNoName = (namespace: string, pod: string, container: string): boolean =>
  [checkName('label', namespace), checkName('subdomain', pod), checkName('label', container)].some(
    (wrong) => wrong !== undefined,
  );

/** Texts as somebody with bad intentions writes them, beside all others. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '..',
    '.',
    '',
    '../..',
    '/etc/passwd',
    '..%2f..%2fx',
    'a\0b',
    '.inflight-1',
    'a\n',
    '%00',
    '~root',
  ),
  fc.stringMatching(/^[a-z0-9./%~\\-]{1,12}$/),
  fc.constantFrom('default', 'main'),
);

const encode = (part: string): string => {
  try {
    return encodeURIComponent(part).replaceAll('.', '%2E');
  } catch {
    return '%ED%A0%80'; // half a surrogate pair has no encoding
  }
};

/** Not those of the store, and no folders: the agent makes some of its own when it has heard of all pods. */
async function listFiles(rootDir: string): Promise<string[]> {
  const entries = await readdir(rootDir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(rootDir, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('storage'));
}

test('names that cannot exist are never 5xx, and lead to no file', async () => {
  await using site = await openSite();
  const workload = await startWorkload(site);
  using client = await requester(site);
  const filesBefore = await listFiles(site.rootDir);
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.oneof(text, fc.constant(workload.pod)),
      text,
      async (namespace, pod, container) => {
        fc.pre(isNoName(namespace, pod, container));
        const code = await client.post(`/checkpoint/${[namespace, pod, container].map(encode).join('/')}`);
        assert.ok(code >= 400 && code < 500, `${code}`);
      },
    ),
    { numRuns: 300, seed: chooseSeed() },
  );
  // the same without an encoding, as far as a client can send it at all
  const raw = fc.stringMatching(/^[!-~]{0,40}$/);
  await fc.assert(
    fc.asyncProperty(raw, async (rest) => {
      const code = await client.post(`/checkpoint/${rest}`);
      assert.ok(code >= 400 && code < 500, `${code}`);
    }),
    { numRuns: 200, seed: chooseSeed() },
  );
  const filesAfter = await listFiles(site.rootDir);
  assert.deepEqual(filesAfter.sort(), filesBefore.sort());
  await runsOn(site, workload);
});
