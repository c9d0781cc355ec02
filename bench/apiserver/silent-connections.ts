/**
 * What clients cost that connect and say nothing: `node bench/apiserver/silent-connections.ts [COUNT]` opens that many TLS
 * connections (20,000) to the built control plane and leaves them. Memory is PSS: before, at most, and a minute after the
 * last of them has gone. Beside them an authenticated client asks for something: how long it waits for a new connection
 * and an answer.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { printRow, verdict } from '../report.ts';
import { buildUnlessBuilt } from './build.ts';
import { requestBytes } from './connection.ts';
import { expectSuccess, openAll } from './load.ts';
import { pssMiB } from './process-cost.ts';
import { startServer } from './server.ts';

const count = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 20_000);
const atOnce = 100;
const restMs = 60_000;

await buildUnlessBuilt();
await using server = await startServer();
const { target } = server;
await sleep(5000);
const idleMiB = await pssMiB(target.pid);
const sockets: TLSSocket[] = [];
let maxMiB = idleMiB;
let opened = 0;
let slowestMs = 0;

async function open(): Promise<void> {
  const { hostname: host, port } = new URL(target.url);
  while (opened < count) {
    opened += 1;
    const socket = connect({ host, port: Number(port), ca: target.ca });
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    await new Promise<void>((resolve) =>
      socket.once('secureConnect', resolve).once('close', () => resolve()),
    );
  }
}

async function observe(): Promise<void> {
  while (opened < count) {
    maxMiB = Math.max(maxMiB, await pssMiB(target.pid));
    const startedMs = performance.now();
    using lines = await openAll(target, 1);
    const reply = await lines.all[0]?.ask(
      requestBytes({ method: 'GET', path: '/api/v1/namespaces/default' }),
    );
    if (reply !== undefined) expectSuccess(reply);
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    await sleep(500);
  }
}

await Promise.all([observe(), ...Array.from({ length: atOnce }, open)]);
maxMiB = Math.max(maxMiB, await pssMiB(target.pid));
const left = sockets.filter(({ closed }) => !closed).length;
for (const socket of sockets) socket.destroy();
await sleep(restMs);
const afterMiB = await pssMiB(target.pid);
printRow(['', 'measured', 'target', '']);
printRow(['memory before', `${idleMiB.toFixed(0)} MiB`]);
printRow([`memory at most, ${opened} connections, ${left} left`, `${maxMiB.toFixed(0)} MiB`]);
printRow(['memory a minute later', `${afterMiB.toFixed(0)} MiB`, ...verdict(afterMiB, 2 * idleMiB, 'MiB')]);
printRow(['a new client with a certificate waits', `${slowestMs.toFixed(0)} ms at most`]);
