import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { defaultSettings } from '../../../../src/agent/checkpoint/index.ts';
import { LiveConfig, loadConfig, originTable } from '../../../../src/agent/config/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function lab(text: string) {
  const folder = await temporaryFolder();
  const config = join(folder.path, 'config.yaml');
  const write = (next: string) => writeFile(config, `${head}${next}`);
  await write(text);
  return {
    config,
    write,
    load: () => loadConfig({ config, flags: {} }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('the section checkpoint', () => {
  test('has defaults that are those of the checkpoints themselves', async () => {
    await using at = await lab('');
    assert.deepEqual((await at.load()).config.checkpoint, defaultSettings);
  });

  test('is merged field by field, and each tells where it comes from', async () => {
    await using at = await lab('checkpoint:\n  onConflict: Refuse\n  diskReserve: 2Gi\n');
    const { config, provenance } = await at.load();
    assert.deepEqual(config.checkpoint, {
      maxConcurrent: 2,
      maxWaiting: 100,
      onConflict: 'Refuse',
      diskReserve: { bytes: 2 * 1024 ** 3 },
      retention: {},
      encryption: { recipients: [], recipientsFile: '' },
    });
    const rows = originTable(provenance).filter(({ field }) => field.startsWith('checkpoint.'));
    assert.deepEqual(
      rows.map(({ field, origin, overrode }) => [field, origin, overrode.map(({ value }) => value)]),
      [
        ['checkpoint.diskReserve', `${at.config}:5`, ['5%']],
        ['checkpoint.maxConcurrent', 'default', []],
        ['checkpoint.maxWaiting', 'default', []],
        ['checkpoint.onConflict', `${at.config}:4`, ['Wait']],
      ],
    );
  });

  test('takes a reserve as an amount or a share, and none', async () => {
    for (const [text, reserve] of [
      ['"0"', { bytes: 0 }],
      ['0%', { bytes: 0 }],
      ['50%', { share: 0.5 }],
      ['100Mi', { bytes: 100 * 1024 ** 2 }],
    ] as const) {
      await using at = await lab(`checkpoint: {diskReserve: ${text}}\n`);
      assert.deepEqual((await at.load()).config.checkpoint.diskReserve, reserve, text);
    }
  });

  test('is refused where it makes no sense, with the place', async () => {
    for (const [field, why] of [
      ['maxConcurrent: 0', 'checkpoint.maxConcurrent: must be from 1 to 1000, not 0'],
      ['maxWaiting: -1', 'checkpoint.maxWaiting: must be from 0 to 100000, not -1'],
      ['onConflict: maybe', 'checkpoint.onConflict: "maybe" is not one of Wait, Refuse'],
      [
        'diskReserve: 100%',
        'checkpoint.diskReserve: must be an amount from 0 on, such as 1Gi, or a percentage, not "100%"',
      ],
      ['diskReserve: -1Gi', 'checkpoint.diskReserve: must be an amount'],
      ['dikReserve: 1Gi', 'checkpoint.dikReserve: unknown field'],
      ['maxConcurrent: many', 'checkpoint.maxConcurrent: expected a 32-bit integer'],
    ] as const) {
      await using at = await lab(`checkpoint: {${field}}\n`);
      await assert.rejects(at.load(), (error: Error) => error.message.includes(why), field);
    }
  });

  test('counts from a reload on', async () => {
    await using at = await lab('');
    const live = new LiveConfig({
      first: await at.load(),
      load: at.load,
      prepare: async () => () => undefined,
    });
    await at.write('checkpoint: {maxConcurrent: 7}\n');
    assert.deepEqual((await live.reload()).applied, ['checkpoint']);
    assert.equal(live.current.checkpoint.maxConcurrent, 7);
  });
});

describe('the section checkpoint.retention', () => {
  test('is empty by default, and each limit stands for itself', async () => {
    await using none = await lab('');
    assert.deepEqual((await none.load()).config.checkpoint.retention, {});
    await using at = await lab(
      [
        'checkpoint:',
        '  retention:',
        '    perContainer: {maxCount: 5, minCount: 1}',
        '    node: {maxBytes: 20Gi, maxAge: 168h}',
      ].join('\n'),
    );
    const { config, provenance } = await at.load();
    assert.deepEqual(config.checkpoint.retention, {
      perContainer: { maxCount: 5, minCount: 1 },
      node: { maxBytes: 20 * 1024 ** 3, maxAgeMs: 7 * 24 * 3600_000 },
    });
    const row = originTable(provenance).find(({ field }) => field === 'checkpoint.retention.node.maxAge');
    assert.equal(row?.origin, `${at.config}:6`);
  });

  test('is refused where it makes no sense, with the place', async () => {
    for (const [limit, why] of [
      ['node: {maxCount: 0}', 'checkpoint.retention.node.maxCount: must be from 1 to 1000000, not 0'],
      ['node: {minCount: -1}', 'checkpoint.retention.node.minCount: must be from 0 to 1000000, not -1'],
      ['perPod: {maxBytes: 0}', 'checkpoint.retention.perPod.maxBytes: must be an amount from 1 on, not 0'],
      ['perPod: {maxBytes: -1Gi}', 'checkpoint.retention.perPod.maxBytes: must be an amount from 1 on'],
      ['perPod: {maxAge: 59s}', 'checkpoint.retention.perPod.maxAge: must be 1m or longer, not 59s'],
      ['perPod: {maxAge: -1h}', 'checkpoint.retention.perPod.maxAge: must be 1m or longer'],
      ['node: {maxCount: 1, minCount: 2}', 'checkpoint.retention.node: minCount 2 is more than maxCount 1'],
      ['node: {maxKount: 1}', 'checkpoint.retention.node.maxKount: unknown field'],
      ['perCluster: {maxCount: 1}', 'checkpoint.retention.perCluster: unknown field'],
    ] as const) {
      await using at = await lab(`checkpoint: {retention: {${limit}}}\n`);
      await assert.rejects(at.load(), (error: Error) => {
        assert.ok(error.message.includes(why), error.message);
        return true;
      });
    }
  });
});
