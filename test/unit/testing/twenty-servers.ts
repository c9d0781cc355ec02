/**
 * A process of its own that starts and disposes of servers, each with a client and an open watch, and then tells what is
 * left of them: run with --expose-gc. It ends by itself, or something still held it.
 */
import { get } from 'node:https';
import { startApiServer } from '../../../src/testing/index.ts';

async function once(): Promise<void> {
  await using server = await startApiServer();
  const { url, ca, cert, key, request } = await server.client();
  const answer = await request('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'one' },
  });
  if (answer.code !== 201) throw new Error(`answered ${answer.code}`);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const watch = get(`${url}/api/v1/configmaps?watch=1`, { ca, cert, key, agent: false }, (response) => {
    response.once('data', () => resolve());
    response.once('close', () => watch.destroy());
    response.on('error', () => undefined);
  });
  watch.on('error', reject);
  await promise;
}

async function heapBytes(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return process.memoryUsage().heapUsed;
}

const listeners = () => process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);

const { stdout, stderr } = process; // its own pipes are there once they were looked at
const own = stdout.writable && stderr.writable ? process.getActiveResourcesInfo() : [];
const warmUp = 20;
const rounds = 20;
for (let round = 0; round < warmUp; round++) await once();
const before = { heap: await heapBytes(), listeners: listeners() };
for (let round = 0; round < rounds; round++) await once();
const after = { heap: await heapBytes(), listeners: listeners() };

stdout.write(
  JSON.stringify({
    resources: process.getActiveResourcesInfo().slice(own.length),
    listeners: after.listeners - before.listeners,
    bytesEach: Math.round((after.heap - before.heap) / rounds),
  }),
);
