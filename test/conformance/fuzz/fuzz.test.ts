import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isRecord } from '../../../src/api/index.ts';
import { ensureBuilt } from '../../integration/installation.ts';
import type { RunningApiServer } from '../../integration/nodeward/index.ts';
import { startApiServer } from '../../integration/nodeward/index.ts';
import { residentBytes, temporaryFolder } from '../../support/index.ts';
import { chooseSeed, repetitions } from '../../support/repetition.ts';
import { ApiTester } from '../../unit/apiserver/support/api-tester.ts';
import type { Reply } from '../../unit/apiserver/support/index.ts';
import { Chance } from './chance.ts';
import type { FuzzedRequest } from './requests.ts';
import { fuzzedRequest } from './requests.ts';

/*
 * Throws requests at a real control plane that are nearly right: objects of every kind with random fields, bytes and
 * places changed, in every encoding; patches of every sort, some made to cost much; odd paths, parameters and headers.
 * Whatever comes, the answer is a proper one, never a failure of the server, and its memory stays what it is.
 */
const seed = chooseSeed();
/** 100,000 and more for a long run. */
const requests = repetitions('NODEWARD_FUZZ_REQUESTS', 30_000);
const clients = 16;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: RunningApiServer;
let admin: ApiTester;

before(async () => {
  await ensureBuilt();
  folder = await temporaryFolder();
  server = await startApiServer(folder.path);
  const read = (name: string) => readFile(join(folder.path, 'pki', name), 'utf8');
  const pair = { cert: await read('admin.crt'), key: await read('admin.key') };
  admin = new ApiTester({ port: Number(new URL(server.url).port), ca: await read('ca.crt'), pair });
});

after(async () => {
  admin?.close();
  await server?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

test(`${requests} nearly right requests get proper answers (NODEWARD_TEST_SEED=${seed})`, async (t) => {
  const codes = new Map<number, number>();
  const residents: number[] = [];
  const each = Math.ceil(requests / clients);
  const fuzz = async (_value: unknown, client: number) => {
    const chance = new Chance(seed + client);
    for (let at = 0; at < each; at++) {
      const request = fuzzedRequest(chance);
      const reply = await send(request, client, at);
      codes.set(reply.code, (codes.get(reply.code) ?? 0) + 1);
      checkReply(request, reply, `client ${client}, request ${at}`);
      if (client === 0 && at % Math.ceil(each / 10) === 0)
        residents.push(await residentBytes(server.process.pid));
    }
  };
  await Promise.all(Array.from({ length: clients }, fuzz));

  assert.equal((await admin.request('GET', '/readyz')).code, 200, 'the server is ready as before');
  assert.ok((codes.get(201) ?? 0) > requests / 1000, 'some of it was accepted');
  const [settled = 0, last = 0] = [Math.max(...residents.slice(0, 6)), residents.at(-1)];
  t.diagnostic(`answers by code: ${JSON.stringify(Object.fromEntries([...codes].sort()))}`);
  t.diagnostic(`resident MiB on the way: ${residents.map((bytes) => Math.round(bytes / 2 ** 20)).join(' ')}`);
  assert.ok(last < settled * 1.25 + 32 * 2 ** 20, `memory grew from ${settled} to ${last} bytes`);
});

async function send(
  { method, path, headers, body }: FuzzedRequest,
  client: number,
  at: number,
): Promise<Reply> {
  try {
    return await admin.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
  } catch (error) {
    const { exit, stderr } = server.process;
    const state = exit === undefined ? 'the server runs' : `the server ended: ${JSON.stringify(exit)}`;
    const told = `client ${client}, request ${at}: no answer to ${method} ${path.slice(0, 500)}`;
    throw new Error(`${told} (${state})\n${stderr.slice(-4000)}`, { cause: error });
  }
}

function checkReply({ method, path, headers, body }: FuzzedRequest, reply: Reply, where: string): void {
  const told = `${where}: ${method} ${path.slice(0, 500)} ${JSON.stringify(headers)} ${body?.toString('base64').slice(0, 4000)}\n${reply.code} ${reply.text.slice(0, 500)}`;
  assert.ok(reply.code < 500 || isVersionTooLarge(reply) || isNobodyBehind(path, reply), told);
  const type = String(reply.headers['content-type'] ?? '');
  if (method === 'HEAD' || !type.startsWith('application/json') || path.includes('watch=')) return;
  const text = reply.headers['content-encoding'] === 'gzip' ? gunzipSync(reply.bytes).toString() : reply.text;
  const answer: unknown = JSON.parse(text);
  assert.ok(isRecord(answer), told);
  if (reply.code >= 400) assert.ok(answer['kind'] === 'Status' && answer['code'] === reply.code, told);
}

/** The nodes of this test have no agents: whoever asks one through the server is told so. */
function isNobodyBehind(path: string, { code, text }: Reply): boolean {
  return code === 503 && path.includes('/proxy') && /node \S+ cannot be reached/.test(text);
}

/** A version that is not there yet is waited for, then refused (specification, section 4.7). */
function isVersionTooLarge({ code, text }: Reply): boolean {
  return code === 504 && text.includes('Too large resource version');
}
