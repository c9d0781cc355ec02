import { once } from 'node:events';
import { createServer } from 'node:net';

/*
 * Below the ports that the system gives to outgoing connections (from 32768 on): one of those that was free a moment
 * ago may be some client's the next.
 */
const lowest = 15_000;
const count = 16_000;
const tries = 1000;

const given = new Set<number>();

/**
 * A TCP port of 127.0.0.1 that was free a moment ago, never the same twice, for programs that cannot be given port 0
 * and asked which one they took.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * count);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`none of ${tries} TCP ports was free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
