import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { EffectiveConfig } from '../../../../src/agent/config/index.ts';
import { LiveConfig, loadConfig, originTable } from '../../../../src/agent/config/index.ts';
import { configFiles, writeConfig } from './config-files.ts';

/** A live configuration of one file, which can be written anew. */
async function liveOf(text: string, prepare?: (next: EffectiveConfig) => Promise<() => void>) {
  const folder = await configFiles({ 'c.yaml': text });
  const file = join(folder.path, 'c.yaml');
  let loads = 0;
  const load = () => {
    loads += 1;
    return loadConfig({ config: file, flags: {} });
  };
  const live = new LiveConfig({
    first: await load(),
    load,
    prepare: prepare ?? (async () => () => undefined),
  });
  loads = 0;
  return {
    live,
    loads: () => loads,
    write: (next: string) => writeConfig(file, next),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('loading the configuration anew', () => {
  test('what can counts now, what cannot is named and stays', async () => {
    await using made = await liveOf('maxPods: 10\nport: 1000\n');
    const { live } = made;
    await made.write('maxPods: 20\nport: 2000\nkubeAPIQPS: 7\n');
    const { applied, pending, warnings } = await live.reload();
    assert.deepEqual([applied, pending], [['maxPods'], ['port']]);
    assert.match(warnings.join(), /kubeAPIQPS has no effect here/);
    assert.deepEqual([live.current.maxPods, live.current.port], [20, 1000]);
    assert.equal(live.loaded.printable['port'], 1000);
    const rows = originTable(live.loaded.provenance);
    assert.match(rows.find(({ field }) => field === 'port')?.origin ?? '', /c\.yaml:4$/);
    assert.deepEqual(
      rows.map(({ field }) => field).toSorted(),
      rows.map(({ field }) => field),
    );
  });

  test('what is put back no longer needs a restart', async () => {
    await using made = await liveOf('port: 1000\n');
    await made.write('port: 2000\n');
    assert.deepEqual((await made.live.reload()).pending, ['port']);
    assert.deepEqual(made.live.pending, ['port']);
    await made.write('port: 1000\n');
    assert.deepEqual(await made.live.reload(), { applied: [], pending: [], warnings: [] });
  });

  test('a bad one is refused whole and the old one stays', async () => {
    await using made = await liveOf('maxPods: 10\n');
    let told = 0;
    using _listener = made.live.onReload(() => {
      told += 1;
    });
    await made.write('maxPods: 20\naddress: nowhere\nport: x\n');
    await assert.rejects(made.live.reload(), /port.*\n?.*address|address.*\n?.*port/s);
    assert.equal(made.live.current.maxPods, 10);
    assert.equal(told, 0);
    await made.write('maxPods: 30\n');
    await made.live.reload();
    assert.equal(made.live.current.maxPods, 30);
    assert.equal(told, 1);
  });

  test('one that needs what is not there is refused too', async () => {
    await using made = await liveOf('maxPods: 10\n', async (next) => {
      if (next.maxPods === 20) throw new Error('the certificate is not there');
      return () => undefined;
    });
    await made.write('maxPods: 20\n');
    await assert.rejects(made.live.reload(), /certificate is not there/);
    assert.equal(made.live.current.maxPods, 10);
  });

  test('reloads follow one another, and those that wait share the next', async () => {
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    let running = 0;
    await using made = await liveOf('maxPods: 10\n', async () => {
      running += 1;
      assert.equal(running, 1, 'never two at once');
      entered.resolve();
      await gate.promise;
      return () => {
        running -= 1;
      };
    });
    await made.write('maxPods: 20\n');
    const first = made.live.reload();
    await entered.promise;
    await made.write('maxPods: 30\n'); // while the first is busy
    const waiting = [made.live.reload(), made.live.reload(), made.live.reload()];
    await setImmediate();
    assert.equal(made.loads(), 1, 'they wait');
    gate.resolve();
    assert.deepEqual((await first).applied, ['maxPods']);
    for (const each of waiting) assert.deepEqual((await each).applied, ['maxPods']);
    assert.equal(made.live.current.maxPods, 30);
    assert.equal(made.loads(), 2);
  });
});
