import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeObjectsOptions } from '../../../../src/agent/objects/index.ts';
import { NodeServices } from '../../../../src/agent/objects/index.ts';
import type { Service } from '../../../../src/api/index.ts';
import { StatusError } from '../../../../src/api/index.ts';
import type { WatchEvent } from '../../../../src/client/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { memoryLog } from '../pods/support.ts';
import { away } from './fake-api.ts';

const service = (name: string, clusterIP: string): Service => ({
  metadata: { name, namespace: 'shop', resourceVersion: '5', labels: { a: 'b' } },
  spec: { clusterIP, ports: [{ port: 80 }] },
});

/** `lists`: what the API answers, in turn; then one watch with `events`, which stays open. */
async function lab(
  lists: (readonly Service[] | Error)[],
  events: WatchEvent<Service>[],
  work: (parts: { services: NodeServices; pass(ms: number): Promise<void>; news(): number }) => Promise<void>,
): Promise<void> {
  const clock = createManualClock();
  const api = {
    async list() {
      const items = lists.shift() ?? [];
      if (items instanceof Error) throw items;
      return { metadata: { resourceVersion: '5' }, items };
    },
    async *watch(_kind: unknown, { signal }: { signal: AbortSignal }) {
      yield* events.splice(0);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  // the fake answers with Services only
  const options = { api: api as unknown as NodeObjectsOptions['api'], clock, log: memoryLog().log };
  const services = new NodeServices({ ...options, random: () => 0 });
  let news = 0;
  using _known = services.onKnown(() => void news++);
  const end = new AbortController();
  const running = services.run(end.signal, () => undefined);
  await work({ services, pass: (ms) => clock.advance(ms), news: () => news });
  end.abort();
  await running;
}

function addresses(services: NodeServices): string {
  const known = services.services();
  if (known.state !== 'present') return known.state === 'waiting' ? known.message : known.state;
  return known.object.map(({ metadata, spec }) => `${metadata?.name} ${spec?.clusterIP}`).join(', ');
}

test('Services are waited for until they were listed once, and then followed', async () => {
  const events: WatchEvent<Service>[] = [
    { type: 'ADDED', object: service('b', '10.0.0.2') },
    { type: 'MODIFIED', object: service('a', '10.0.0.9') },
    { type: 'DELETED', object: service('c', '10.0.0.3') },
  ];
  const lists = [away, [service('a', '10.0.0.1'), service('c', '10.0.0.3')]];
  await lab(lists, events, async ({ services, pass, news }) => {
    assert.equal(addresses(services), 'the API has not been asked yet');
    await pass(1);
    assert.equal(addresses(services), 'nothing listens there');
    assert.equal(news(), 0);
    await pass(1000);
    assert.equal(addresses(services), 'a 10.0.0.9, b 10.0.0.2');
    assert.equal(news(), 1);
    const known = services.services();
    assert.ok(known.state === 'present');
    assert.equal(known.object[0]?.metadata?.labels, undefined, 'only what is needed is kept');
  });
});

test('an API that does not serve the kind has no Services', async () => {
  const unknown = new StatusError('NotFound', 'the server could not find the requested resource', {
    code: 404,
  });
  await lab([unknown, unknown], [], async ({ services, pass, news }) => {
    await pass(1);
    assert.equal(addresses(services), '');
    assert.equal(services.services().state, 'present');
    assert.equal(news(), 1);
  });
});

test('a refusal is said', async () => {
  const refusal = new StatusError('Forbidden', 'services is forbidden', { code: 403 });
  await lab([refusal], [], async ({ services, pass }) => {
    await pass(1);
    assert.equal(addresses(services), 'services is forbidden');
  });
});
