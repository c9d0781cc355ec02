import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFakeNode, entryOf, folder } from './fake-node.ts';

describe('a socket in the folder', () => {
  test('is asked, validated, registered and told so', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock');
    assert.equal(node.of(path)?.state, 'found');
    await node.clock.advance(0);
    const { state, plugin, attempts, lastError, nextTryMs } = node.of(path) ?? {};
    assert.deepEqual([state, attempts, lastError, nextTryMs], ['registered', 1, undefined, undefined]);
    assert.deepEqual(plugin, {
      type: 'TestPlugin',
      name: 'plugin.example/a.sock',
      endpoint: path,
      versions: ['v1'],
      socket: path,
      madeMs: 1,
    });
    assert.deepEqual(node.told, [`${path}: registered`]);
  });

  test('that is removed is deregistered and forgotten', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock');
    await node.clock.advance(0);
    node.remove('a.sock');
    await node.clock.advance(0);
    assert.equal(node.of(path)?.state, 'gone', 'the handler takes its time');
    await node.clock.advance(100);
    assert.deepEqual(node.registry.sockets(), []);
    assert.deepEqual(node.calls, [`register ${path} 1`, `deregister ${path} 1`]);
  });

  test('that is replaced is deregistered first, then registered anew', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock');
    await node.clock.advance(0);
    node.put('a.sock');
    await node.clock.advance(1000);
    assert.deepEqual(node.calls, [`register ${path} 1`, `deregister ${path} 1`, `register ${path} 2`]);
    assert.equal(node.of(path)?.plugin?.madeMs, 2);
    assert.equal(node.of(path)?.attempts, 1);
  });

  test('in a subfolder counts; one with a dot in front, in such a folder, or that is none does not', async () => {
    const node = createFakeNode();
    const names = ['sub/folder/a.sock', '.b.sock', '.hidden/c.sock', 'sub/.d.sock'];
    const entries = new Map(names.map((name) => [name, entryOf(name, 1)]));
    for (const kind of ['file', 'folder', 'other'] as const) entries.set(kind, entryOf(kind, 1, kind));
    node.registry.update(entries);
    assert.deepEqual(
      node.registry.sockets().map(({ path }) => path),
      [`${folder}/sub/folder/a.sock`],
    );
  });

  test('that comes back before its predecessor is deregistered is registered', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock');
    await node.clock.advance(0);
    node.remove('a.sock');
    await node.clock.advance(5);
    node.put('a.sock');
    await node.clock.advance(1000);
    assert.equal(node.registered.get(path)?.madeMs, 2);
    assert.equal(node.of(path)?.state, 'registered');
  });
});

describe('a plugin that fails', () => {
  test('is tried again with growing waits, a minute at most, and says when', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'crashing' });
    await node.clock.advance(0);
    const tries: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const { state, nextTryMs = 0, attempts, lastError } = node.of(path) ?? {};
      assert.deepEqual([state, attempts, lastError], ['failed', round + 1, 'nobody listens']);
      tries.push(nextTryMs - node.clock.now());
      await node.clock.advance(nextTryMs - node.clock.now());
    }
    assert.deepEqual(tries, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    node.behave('a.sock', 'good');
    await node.clock.advance(60_000);
    assert.equal(node.of(path)?.state, 'registered');
    assert.equal(node.of(path)?.lastError, undefined);
    const complaints = node.logged.filter((line) => line.includes('nobody listens'));
    assert.equal(complaints.length, 1, 'the same failure is told once');
  });

  test('is told why it is not wanted, in the words of the reference', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'unwanted' });
    await node.clock.advance(0);
    const reason = 'plugin validation failed with err: not wanted here';
    assert.deepEqual(node.told, [`${path}: RegisterPlugin error -- ${reason}`]);
    assert.equal(node.of(path)?.lastError, reason);
    assert.equal(node.of(path)?.plugin?.name, 'plugin.example/a.sock');
    assert.deepEqual(node.calls, []);
  });

  test('is told why it cannot be taken, and nothing is left of it', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'failing' });
    await node.clock.advance(0);
    assert.deepEqual(node.told, [
      `${path}: RegisterPlugin error -- plugin registration failed with err: cannot be taken`,
    ]);
    node.remove('a.sock');
    await node.clock.advance(1000);
    assert.deepEqual(node.calls, [`register ${path} 1`]);
    assert.deepEqual(node.registry.sockets(), []);
  });

  test('of a type that nobody handles is told which there are', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { type: 'NetworkPlugin' });
    await node.clock.advance(0);
    assert.match(
      node.told[0] ?? '',
      /RegisterPlugin error -- no handler registered for plugin type: NetworkPlugin at socket .*a\.sock; supported types: "TestPlugin"$/,
    );
    assert.equal(node.of(path)?.state, 'failed');
    assert.match(
      await node.metrics.metrics(),
      /nodeward_plugin_registrations_total\{type="unknown",result="failed"\} 1/,
    );
  });

  test('to hear stays registered and is told later', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'deaf' });
    await node.clock.advance(6000);
    assert.equal(node.of(path)?.state, 'registered');
    assert.match(node.of(path)?.lastError ?? '', /could not be notified of its registration: no answer/);
    assert.ok((node.of(path)?.nextTryMs ?? 0) > 0);
    node.behave('a.sock', 'good');
    await node.clock.advance(60_000);
    assert.deepEqual(node.told, [`${path}: registered`]);
    assert.equal(node.of(path)?.lastError, undefined);
    assert.deepEqual(node.calls, [`register ${path} 1`]);
  });

  test('and is replaced is tried at once', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'crashing' });
    await node.clock.advance(5 * 60_000);
    node.put('a.sock');
    await node.clock.advance(0);
    assert.equal(node.of(path)?.state, 'registered');
  });

  test('and is replaced by one that fails too begins with short waits again', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'crashing' });
    await node.clock.advance(5 * 60_000);
    node.put('a.sock', { behaviour: 'crashing' });
    assert.deepEqual([node.of(path)?.state, node.of(path)?.attempts], ['found', 0]);
    await node.clock.advance(0);
    const { attempts, nextTryMs = 0 } = node.of(path) ?? {};
    assert.deepEqual([attempts, nextTryMs - node.clock.now()], [1, 500]);
  });

  test('because it was replaced has not failed', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'endless' });
    await node.clock.advance(100);
    node.put('a.sock');
    await node.clock.advance(1);
    assert.deepEqual([node.of(path)?.state, node.of(path)?.attempts], ['found', 0]);
    await node.clock.advance(1000);
    assert.equal(node.of(path)?.state, 'registered');
    assert.deepEqual(node.told, [`${path}: registered`]);
    assert.ok(!node.logged.some((line) => line.includes('cannot be registered')));
  });

  test('to come to an end while it is registered is given up after three minutes', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'endless' });
    await node.clock.advance(179_000);
    assert.equal(node.of(path)?.state, 'registering');
    await node.clock.advance(1000);
    assert.equal(node.of(path)?.state, 'failed');
  });
});

describe('a socket that goes', () => {
  test('while it is asked leaves nothing', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'silent' });
    await node.clock.advance(100);
    assert.equal(node.of(path)?.state, 'asking');
    node.remove('a.sock');
    await node.clock.advance(0);
    assert.deepEqual(node.registry.sockets(), []);
    assert.deepEqual(node.calls, []);
  });

  test('while its handler registers it, and cannot be stopped, is deregistered afterwards', async () => {
    const node = createFakeNode();
    const path = node.put('a.sock', { behaviour: 'slow' });
    await node.clock.advance(100);
    node.remove('a.sock');
    await node.clock.advance(29_000);
    assert.equal(node.of(path)?.state, 'registering');
    await node.clock.advance(2000);
    assert.deepEqual(node.calls, [`register ${path} 1`, `deregister ${path} 1`]);
    assert.deepEqual(node.registry.sockets(), []);
  });

  test('leaves its name to another that was refused because of it, at once', async () => {
    const taken = new Set<string>();
    const node = createFakeNode([
      {
        type: 'OneOfAName',
        validate({ name, socket }) {
          if ([...taken].some((one) => one.startsWith(`${name} `) && one !== `${name} ${socket}`))
            throw new Error(`${name} is registered already`);
        },
        register: async ({ name, socket }) => void taken.add(`${name} ${socket}`),
        deregister: ({ name, socket }) => void taken.delete(`${name} ${socket}`),
      },
    ]);
    const common = { type: 'OneOfAName', plugin: 'driver.example' };
    const first = node.put('first.sock', common);
    const second = node.put('second.sock', common);
    await node.clock.advance(10 * 60_000);
    assert.deepEqual([node.of(first)?.state, node.of(second)?.state], ['registered', 'failed']);
    node.remove('first.sock');
    await node.clock.advance(0);
    assert.equal(node.of(second)?.state, 'registered');
  });
});

describe('many sockets', () => {
  test('are asked so many at once, and those that hang let the others have their turn', async () => {
    const node = createFakeNode();
    for (let index = 0; index < 300; index += 1) node.put(`hanging-${index}.sock`, { behaviour: 'silent' });
    const good = node.put('good.sock');
    await node.clock.advance(11_000);
    assert.equal(node.of(good)?.state, 'registered');
    assert.equal(node.mostAsked, 32);
  });

  test('beyond the limit are left out and told; those that are known keep their place', async () => {
    const node = createFakeNode();
    const entries = new Map(
      Array.from({ length: 1000 }, (_, index) => [`m${index}`, entryOf(`m${index}`, 1)] as const),
    );
    node.registry.update(entries);
    node.registry.update(new Map([['a-new-one', entryOf('a-new-one', 1)], ...entries]));
    assert.equal(node.registry.leftOut, 1);
    assert.equal(node.registry.sockets().length, 1000);
    assert.ok(!node.registry.sockets().some(({ path }) => path.endsWith('a-new-one')));
    assert.match(node.logged.join('\n'), /holds more than 1000 sockets, 1 of them are not looked at; remove/);
    await node.registry.stop();
  });
});

test('a socket that is made anew all the time costs a try every quarter of a second', async () => {
  const node = createFakeNode();
  const path = node.put('a.sock', { behaviour: 'silent' });
  for (let round = 0; round < 300; round += 1) {
    await node.clock.advance(10);
    node.put('a.sock', { behaviour: 'silent' });
  }
  assert.ok(node.opened.length >= 2 && node.opened.length <= 13, `${node.opened.length} tries in 3 s`);
  node.behave('a.sock', 'good');
  await node.clock.advance(1000);
  assert.equal(node.of(path)?.plugin?.madeMs, 301);
});

test('what waits for a handler stands behind nobody who answers', async () => {
  const node = createFakeNode();
  for (let index = 0; index < 100; index += 1) node.put(`endless-${index}.sock`, { behaviour: 'endless' });
  await node.clock.advance(0);
  const good = node.put('good.sock');
  await node.clock.advance(0);
  assert.equal(node.of(good)?.state, 'registered');
});

test('the stop gives up what is under way, keeps what is registered, and begins nothing', async () => {
  const node = createFakeNode();
  const good = node.put('good.sock');
  node.put('silent.sock', { behaviour: 'silent' });
  node.put('endless.sock', { behaviour: 'endless' });
  node.put('crashing.sock', { behaviour: 'crashing' });
  await node.clock.advance(100);
  await node.registry.stop();
  assert.deepEqual([...node.registered.keys()], [good]);
  node.put('late.sock');
  node.remove('good.sock');
  await node.clock.advance(60_000);
  assert.deepEqual([...node.registered.keys()], [good]);
  assert.equal(node.clock.sleepers, 0);
});

test('a handler that is deaf to the stop is left alone, and nothing else goes on', async () => {
  const node = createFakeNode();
  node.put('slow.sock', { behaviour: 'slow' });
  await node.clock.advance(100);
  const stopped = node.registry.stop();
  await node.clock.advance(0);
  assert.equal(node.clock.sleepers, 1, 'the handler itself');
  await node.clock.advance(30_000);
  await stopped;
});

test('the metrics tell the sockets by type and state', async () => {
  const node = createFakeNode();
  node.put('a.sock');
  node.put('b.sock', { behaviour: 'crashing' });
  await node.clock.advance(0);
  const text = await node.metrics.metrics();
  assert.match(text, /nodeward_plugin_sockets\{type="TestPlugin",state="registered"\} 1/);
  assert.match(text, /nodeward_plugin_sockets\{type="unknown",state="failed"\} 1/);
  assert.match(text, /nodeward_plugin_registrations_total\{type="TestPlugin",result="registered"\} 1/);
  node.remove('a.sock');
  await node.clock.advance(1000);
  assert.match(await node.metrics.metrics(), /nodeward_plugin_deregistrations_total\{type="TestPlugin"\} 1/);
});
