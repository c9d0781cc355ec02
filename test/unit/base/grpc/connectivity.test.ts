import assert from 'node:assert/strict';
import { createServer } from 'node:http2';
import { join } from 'node:path';
import { test } from 'node:test';
import { openUnixClient, serveUnix } from '../../../../src/base/grpc/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';

test('a connection that is followed is told as it comes, goes and comes again, and no more after the end', async () => {
  await using folder = await temporaryFolder('grpc-');
  const path = join(folder.path, 'a.sock');
  const told: boolean[] = [];
  const client = openUnixClient(path);
  client.follow((isConnected) => told.push(isConnected));
  assert.deepEqual(told, [false]);
  const options = { path, services: [], log: silentLogger() };
  const first = await serveUnix(options);
  await waitFor('the connection', () => told.at(-1) === true);
  await first[Symbol.asyncDispose]();
  await waitFor('its end', () => told.at(-1) === false);
  await using again = await serveUnix(options);
  await waitFor('the connection again', () => told.at(-1) === true);
  client[Symbol.dispose]();
  await again[Symbol.asyncDispose]();
  assert.deepEqual(told, [false, true, false, true]);
});

test('a server that ends each connection at once is not connected to all the time', async () => {
  await using folder = await temporaryFolder('grpc-');
  const path = join(folder.path, 'a.sock');
  let connections = 0;
  const server = createServer().on('sessionError', () => undefined);
  server.on('session', (session) => {
    connections += 1;
    session.once('remoteSettings', () => session.destroy());
  });
  server.listen(path);
  using client = openUnixClient(path);
  const startedMs = performance.now();
  client.follow(() => undefined);
  await waitFor('some connections', () => connections >= 4);
  assert.ok(performance.now() - startedMs > 1000, `${connections} connections within a second`);
  server.close();
});
