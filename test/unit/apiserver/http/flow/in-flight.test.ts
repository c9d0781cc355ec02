import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import type { Asked, InFlightLimits } from '../../../../../src/apiserver/http/flow/in-flight.ts';
import { createInFlightLimiter } from '../../../../../src/apiserver/http/flow/in-flight.ts';
import { MetricsRegistry } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import type { TestServer } from '../../support/index.ts';
import { bellClock, named, nodes, startServer } from '../../support/index.ts';

describe('levels of requests in flight', () => {
  test('readers and writers have seats of their own', async () => {
    const at = entrance({ reading: 1, mutating: 1 });
    assert.ok(at.seated({ verb: 'get' }));
    assert.ok(at.seated({ verb: 'create' }));
    assert.ok(!at.seated({ verb: 'list' }));
    for (const verb of ['update', 'patch', 'delete', 'deletecollection'] as const)
      assert.ok(!at.seated({ verb }));
  });

  test('the heartbeats of nodes and administrators are not held up by others', async () => {
    const at = entrance({ reading: 1, mutating: 1 });
    assert.ok(at.seated({ verb: 'update' }));
    assert.ok(at.seated({ verb: 'get' }));
    assert.ok(!at.seated({ verb: 'update' }), 'there is no seat');

    const node = { name: 'system:node:one', groups: ['system:nodes'] };
    const lease = { resource: 'leases', namespace: 'kube-node-lease' };
    assert.ok(at.seated({ verb: 'update', ...node, ...lease }));
    assert.ok(at.seated({ verb: 'create', ...node, ...lease }));
    assert.ok(at.seated({ verb: 'patch', ...node, resource: 'nodes', subresource: 'status' }));
    assert.ok(at.seated({ verb: 'update', name: 'admin', groups: ['system:masters'] }));
    assert.ok(at.seated({ verb: 'list', name: 'admin', groups: ['system:masters'] }));

    assert.ok(!at.seated({ verb: 'update', ...node, resource: 'nodes' }), 'not all that a node writes');
    assert.ok(!at.seated({ verb: 'update', ...node, resource: 'leases', namespace: 'default' }));
    assert.ok(!at.seated({ verb: 'get', ...node, ...lease }));
    assert.ok(!at.seated({ verb: 'update', name: 'somebody', groups: ['system:nodes'], ...lease }));
    assert.ok(!at.seated({ verb: 'update', name: 'system:node:one', ...lease }), 'a name alone is nobody');
  });

  test('a thousand nodes at once all have their turn', async () => {
    const at = entrance({});
    const seats = Array.from({ length: 1000 }, (_, index) =>
      at.enter({
        verb: 'update',
        name: `system:node:${index}`,
        groups: ['system:nodes'],
        resource: 'leases',
        namespace: 'kube-node-lease',
      }),
    );
    assert.equal(seats.filter((seat) => seat instanceof Promise).length, 800);
    for (const seat of seats) (await seat)[Symbol.dispose]();
  });

  test('the metrics tell who is worked on, who waits, who waited and who was refused', async () => {
    const at = entrance({ mutating: 1 });
    const first = await at.enter({ verb: 'create' });
    const second = at.enter({ verb: 'create' });
    for (let more = 1; more < 500; more++) void at.enter({ verb: 'create' });
    assert.throws(() => at.enter({ verb: 'create' }), { reason: 'TooManyRequests', code: 429 });
    const told = await at.metrics.metrics();
    assert.match(told, /^apiserver_flowcontrol_current_executing_requests\{priority_level="mutating"\} 1$/m);
    assert.match(told, /^apiserver_flowcontrol_current_inqueue_requests\{priority_level="mutating"\} 500$/m);
    assert.match(told, /^apiserver_flowcontrol_current_inqueue_requests\{priority_level="heartbeats"\} 0$/m);
    assert.match(
      told,
      /^apiserver_flowcontrol_rejected_requests_total\{priority_level="mutating",reason="queue-full"\} 1$/m,
    );
    first[Symbol.dispose]();
    await second;
    assert.match(
      await at.metrics.metrics(),
      /^apiserver_flowcontrol_request_wait_duration_seconds_count\{.*execute="true".*\} 1$/m,
    );
  });
});

describe('a server that is asked for more than it works on at once', () => {
  /** How long a read waits for a version. */
  const patienceMs = 3000;
  /** Waits for a version that does not come, until the bell rings, and occupies the only seat so long. */
  const never = (name: string) => `${nodes}/${name}?resourceVersion=99999999`;

  test('lets a request wait for its turn; it keeps nobody out who has a level of their own', async () => {
    const clock = bellClock(patienceMs);
    await using server = await startServer({ clock, inFlight: { reading: 1 } });
    const [one, two] = await Promise.all([server.node('one'), server.node('two')]);
    const held = one.request('GET', never('one'));
    await until(server, 'executing', 1);
    const waiting = two.request('GET', `${nodes}/two`);
    await until(server, 'inqueue', 1);
    assert.equal((await server.admin.request('GET', nodes)).code, 200, 'an administrator');
    assert.equal((await server.nobody.request('GET', '/livez')).code, 200, 'health');
    assert.equal((await two.request('POST', nodes, { body: named('two') })).code, 201, 'a writer');
    clock.ring();
    assert.equal((await held).code, 504);
    assert.equal((await waiting).code, 200, 'what was made while it waited is there');
    await until(server, 'executing', 0);
  });

  test('a client that goes while it waits leaves nothing behind', async () => {
    const clock = bellClock(patienceMs);
    await using server = await startServer({ clock, inFlight: { reading: 1 } });
    const one = await server.node('one');
    const held = one.request('GET', never('one'));
    await until(server, 'executing', 1);
    using impatient = await (await server.node('two')).raw();
    impatient.write(`GET ${nodes}/two HTTP/1.1\r\nhost: x\r\n\r\n`);
    await until(server, 'inqueue', 1);
    impatient[Symbol.dispose]();
    await until(server, 'inqueue', 0);
    const cancelled = 'rejected_requests_total{priority_level="reading",reason="cancelled"} 1';
    assert.ok((await metricsOf(server)).includes(cancelled));
    clock.ring();
    assert.equal((await held).code, 504);
    await until(server, 'executing', 0);
    assert.equal((await one.request('GET', `${nodes}/one`)).code, 404);
  });

  test('an open watch has no seat, and the metrics tell that it is open', async () => {
    await using server = await startServer({ inFlight: { reading: 1, mutating: 1 } });
    using watching = await server.admin.raw();
    watching.write(`GET ${nodes}?watch=1 HTTP/1.1\r\nhost: x\r\n\r\n`);
    const open = 'apiserver_longrunning_requests{verb="WATCH",group="",version="v1",resource="nodes"}';
    await waitFor('an open watch', async () => (await metricsOf(server)).includes(`${open} 1\n`));
    assert.equal((await (await server.node('one')).request('GET', `${nodes}/one`)).code, 404);
    await until(server, 'executing', 0);
    watching[Symbol.dispose]();
    await waitFor('none', async () => (await metricsOf(server)).includes(`${open} 0\n`));
  });
});

async function metricsOf(server: TestServer): Promise<string> {
  return (await server.admin.request('GET', '/metrics')).text;
}

/** Waits until so many readers are worked on, or wait. */
async function until(server: TestServer, what: 'executing' | 'inqueue', count: number): Promise<void> {
  const line = `apiserver_flowcontrol_current_${what}_requests{priority_level="reading"} ${count}\n`;
  await waitFor(line, async () => (await metricsOf(server)).includes(line));
}

interface Wish extends Partial<Pick<Asked, 'verb' | 'subresource' | 'namespace'>> {
  name?: string;
  groups?: readonly string[];
  /** Of its group. */
  resource?: string;
}

/** The way to the seats, without a server. */
function entrance(limits: InFlightLimits) {
  const metrics = new MetricsRegistry();
  const enterAs = createInFlightLimiter({ limits, clock: createManualClock(), metrics });
  const enter = (wish: Wish) => {
    const { verb = 'get', name = 'somebody', groups = [], resource = 'pods' } = wish;
    const kind = { group: resource === 'leases' ? 'coordination' : '', resource };
    const response = Object.assign(new EventEmitter(), { destroyed: false });
    const place = { subresource: wish.subresource ?? '', namespace: wish.namespace ?? '' };
    return enterAs(
      { user: { name, groups, extra: {} }, verb, resource: { kind }, ...place },
      { bytes: 0, response },
    );
  };
  return { metrics, enter, seated: (wish: Wish) => !(enter(wish) instanceof Promise) };
}
