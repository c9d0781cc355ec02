/**
 * What an idle watch costs in memory without its connection, its request and its response: how much the heap grows per
 * watch. Run with `--expose-gc` by bench/apiserver/watchers.ts; prints bytes.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { EventParts } from '../../src/apiserver/http/watch/event-parts.ts';
import { streamWatch } from '../../src/apiserver/http/watch/watch-stream.ts';
import { createCache, openStore } from '../../src/apiserver/storage/index.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';

const count = 4000;

/** Is not connected to anything. */
class Silent extends ServerResponse {
  override writeHead(): this {
    return this;
  }
  override flushHeaders(): void {
    // there is nobody to send them to
  }
}

async function heapBytes(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    await delay(20);
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

const none = () => Buffer.alloc(0);
const encoding = { event: none, bookmark: none, error: none, parts: new EventParts() };
const negotiated = {
  form: { as: 'object', encoding: 'json' },
  mediaType: 'application/json',
  pretty: false,
} as const;
const log = silentLogger();
await using cache = await createCache(await openStore({ kind: 'memory' }));

function watch(response: ServerResponse): void {
  const timeoutMs = 1_800_000 + Math.floor(Math.random() * 1_800_000);
  const request: Parameters<typeof streamWatch>[0]['request'] = {
    timeoutMs,
    bookmarks: true,
    open: (events, sink) =>
      cache.watch('/registry/leases/', { at: 'exact', revision: 0 }, () => true, events, sink),
  };
  const untilMs = Number.POSITIVE_INFINITY;
  streamWatch({ request, untilMs, negotiated, encoding, response, clock: systemClock, log });
}

function responses(): ServerResponse[] {
  return Array.from({ length: count }, () => new Silent(new IncomingMessage(new Socket())));
}

const first = responses();
for (const response of first) watch(response); // what is made once, such as compiled code, is made now
const later = responses();
const before = await heapBytes();
for (const response of later) watch(response);
process.stdout.write(`${Math.round((await heapBytes()) - before) / count}\n`);
for (const response of [...first, ...later]) response.destroy();
