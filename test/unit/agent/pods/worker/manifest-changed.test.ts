/** A manifest with a uid of its own keeps it while its content changes, and a manifest may come back: each runs as it is now. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

let folder: TemporaryFolder;
let world: NodeWorld;
beforeEach(async () => {
  folder = await temporaryFolder('pods-');
  world = new NodeWorld(folder.path);
});
afterEach(async () => {
  world.runtime.clearFaults();
  await world.stop();
  assert.deepEqual(world.runtime.violations, []);
  await folder[Symbol.asyncDispose]();
});

/** The pod of a manifest whose content has that hash. */
const manifestOf = (hash: string) =>
  podOf('web', {
    annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': hash },
  });
const sandboxHashes = () =>
  world.runtime.sandboxes().map(({ config }) => config.annotations?.['kubernetes.io/config.hash']);
const runs = (hash: string) =>
  world.until(`the pod of manifest ${hash}`, () => world.running() === 1 && sandboxHashes().join() === hash);
const made = () => world.runtime.calls.filter((call) => call === 'runSandbox').length;

describe('a manifest that changes and keeps its uid', () => {
  test('is another pod: the first ends, then the other begins', async () => {
    world.start();
    world.want(manifestOf('one'));
    await runs('one');
    world.want(manifestOf('two'));
    await runs('two');
    const removed = world.runtime.calls.indexOf('removeSandbox');
    assert.ok(removed > 0 && world.runtime.calls.lastIndexOf('runSandbox') > removed);
    assert.deepEqual([made(), world.runtime.containers().length], [2, 1]);
  });

  test('is noticed by an agent that was away meanwhile, which touches nothing else', async () => {
    world.start();
    world.want(manifestOf('one'));
    await runs('one');
    await world.stop();
    world.start();
    await world.until('it to be taken up', () => world.manager?.workers()[0]?.plan?.stage === 'running');
    assert.equal(made(), 1);
    await world.stop();
    world.want(manifestOf('two'));
    world.start();
    await runs('two');
    assert.equal(made(), 2);
  });

  test('is noticed after an upgrade from an agent that kept no hash of it', async () => {
    world.start();
    world.want(manifestOf('one'));
    await runs('one');
    await world.stop();
    const file = join(folder.path, 'pod-records/uid-web.json');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/"manifestHash":\s*"one",?/, ''));
    assert.notEqual(await readFile(file, 'utf8'), text);
    world.start();
    await world.until('it to be taken up', () => world.manager?.workers()[0]?.plan?.stage === 'running');
    await world.stop();
    world.want(manifestOf('two'));
    world.start();
    await runs('two');
    assert.equal(made(), 2);
  });
});

test('a manifest that comes back while the runtime may still make what was asked for begins again, once', async () => {
  world.runtime.fault({ call: 'createContainer', kind: 'hang' });
  world.start();
  world.want(manifestOf('one'));
  await world.until('the call', () => world.runtime.calls.includes('createContainer'));
  world.want();
  await world.until('it to end', () => world.manager?.workers().length === 0);
  world.runtime.clearFaults();
  const sinceMs = world.clock.now();
  world.want(manifestOf('one'));
  await runs('one');
  assert.ok(world.clock.now() - sinceMs < 60_000, 'it does not wait until nothing can be made any more');
  assert.equal(made(), 2);
});
