import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FlagValues } from '../../../../src/agent/config/index.ts';
import { loadConfig, originTable } from '../../../../src/agent/config/index.ts';
import { configFiles } from './config-files.ts';

/** The rows by field, with the names of files alone. */
async function rowsOf(contents: Record<string, string>, flags: FlagValues = {}) {
  await using folder = await configFiles({ 'd/empty.conf': '', ...contents });
  const loaded = await loadConfig({
    config: join(folder.path, 'c.yaml'),
    configDir: join(folder.path, 'd'),
    flags,
  });
  const text = JSON.stringify(originTable(loaded.provenance)).replaceAll(`${folder.path}/`, '');
  const rows: { field: string; value?: unknown; origin: string; overrode: unknown[] }[] = JSON.parse(text);
  return { loaded, text, row: (field: string) => rows.find((row) => row.field === field) };
}

describe('provenance', () => {
  test('names where a value stands, and everything that it won over', async () => {
    const { row } = await rowsOf(
      {
        'c.yaml': 'port: 20250\nclusterDNS: [192.168.0.9, 192.168.0.8]\n',
        'd/10.conf': 'port: 20251\n',
        'd/20.conf': '\nclusterDNS: [192.168.0.2]\n',
      },
      { port: 20252 },
    );
    assert.deepEqual(row('port'), {
      field: 'port',
      value: 20252,
      origin: 'flag --port',
      overrode: [
        { value: 20251, origin: 'd/10.conf:3' },
        { value: 20250, origin: 'c.yaml:3' },
        { value: 10250, origin: 'default' },
      ],
    });
    assert.deepEqual(row('clusterDNS'), {
      field: 'clusterDNS',
      value: ['192.168.0.2'],
      origin: 'd/20.conf:4',
      overrode: [{ value: ['192.168.0.9', '192.168.0.8'], origin: 'c.yaml:4' }],
    });
    assert.deepEqual(row('maxPods'), { field: 'maxPods', value: 110, origin: 'default', overrode: [] });
  });

  test('a null and a zero are shown as what the default won over', async () => {
    const { row } = await rowsOf({
      'c.yaml': 'maxPods: 7\nport: 0\nfeatureGates: {ContainerCheckpoint: false}\n',
      'd/10.conf': 'maxPods: null\nfeatureGates: {ContainerCheckpoint: null}\n',
    });
    assert.deepEqual(row('maxPods'), {
      field: 'maxPods',
      value: 110,
      origin: 'default',
      overrode: [
        { value: null, origin: 'd/10.conf:3' },
        { value: 7, origin: 'c.yaml:3' },
      ],
    });
    assert.deepEqual(row('port')?.overrode, [{ value: 0, origin: 'c.yaml:4' }]);
    assert.deepEqual(row('featureGates.ContainerCheckpoint'), {
      field: 'featureGates.ContainerCheckpoint',
      origin: 'd/10.conf:4',
      overrode: [{ value: false, origin: 'c.yaml:5' }],
    });
  });

  test('a default that follows another field says so', async () => {
    const { row } = await rowsOf({ 'c.yaml': 'nodeStatusUpdateFrequency: 1m\n' });
    assert.equal(row('nodeStatusReportFrequency')?.value, '1m');
    assert.equal(row('nodeStatusReportFrequency')?.origin, 'default, as nodeStatusUpdateFrequency');
  });

  test('secrets are shown nowhere, also those that were overridden', async () => {
    const { loaded, text } = await rowsOf({
      'c.yaml': 'staticPodURLHeader: {Authorization: [hush-1], Other: [hush-2, hush-3]}\n',
      'd/10.conf': 'staticPodURLHeader: {Authorization: [hush-4]}\n',
    });
    assert.deepEqual(JSON.parse(JSON.stringify(loaded.printable['staticPodURLHeader'])), {
      Authorization: ['REDACTED'],
      Other: ['REDACTED'],
    });
    const all = [text, JSON.stringify(loaded.printable), loaded.warnings.join()].join();
    assert.doesNotMatch(all, /hush/);
    assert.equal(text.match(/REDACTED/g)?.length, 3);
  });

  test('secrets are in no complaint either', async () => {
    const wrong = ['staticPodURLHeader: {a: hush}', 'staticPodURLHeader: [hush]', 'staticPodURLHeader: hush'];
    for (const text of wrong) {
      await assert.rejects(rowsOf({ 'c.yaml': text }), (error: Error) => !/hush/.test(error.message));
    }
  });
});

/** A few fields of each sort that there is a rule for, with values of the right type. */
const layer = fc.record(
  {
    maxPods: fc.option(fc.integer({ min: 1, max: 500 })),
    address: fc.option(fc.constantFrom('192.0.2.1', '192.0.2.2', '::1')),
    protectKernelDefaults: fc.option(fc.boolean()),
    clusterDNS: fc.option(fc.array(fc.constantFrom('192.0.2.53', '192.0.2.54'), { maxLength: 3 })),
    featureGates: fc.option(
      fc.dictionary(fc.constantFrom('ContainerCheckpoint', 'AllAlpha', 'AllBeta'), fc.option(fc.boolean())),
    ),
    cpuManagerPolicyOptions: fc.option(
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.option(fc.constantFrom('1', '2'))),
    ),
    authorization: fc.option(
      fc.record(
        {
          mode: fc.option(fc.constantFrom('Webhook', 'AlwaysAllow')),
          webhook: fc.option(
            fc.record(
              {
                cacheAuthorizedTTL: fc.option(fc.constantFrom('5m', '8m')),
                cacheUnauthorizedTTL: fc.option(fc.constantFrom('30s', '45s')),
              },
              { requiredKeys: [] },
            ),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);
type Layer = Record<string, unknown>;

const defaults: Readonly<Record<string, string>> = {
  maxPods: '110',
  address: '"0.0.0.0"',
  'authorization.mode': '"Webhook"',
  'authorization.webhook.cacheAuthorizedTTL': '"5m"',
  'authorization.webhook.cacheUnauthorizedTTL': '"30s"',
};

/** Written anew: a table of leaves by path, into which one layer after another writes; a null clears all below it. */
function naively(layers: readonly Layer[]): Record<string, { value: string; layer: number }> {
  const table: Record<string, { value: string; layer: number }> = {};
  const write = (path: string, value: unknown, layer: number): void => {
    if (value === null) {
      for (const known of Object.keys(table))
        if (known === path || known.startsWith(`${path}.`)) delete table[known];
    } else if (typeof value === 'object' && !Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) write(`${path}.${key}`, inner, layer);
    } else table[path] = { value: JSON.stringify(value), layer };
  };
  layers.forEach((each, layer) => {
    for (const [name, value] of Object.entries(each)) write(name, value, layer);
  });
  for (const [path, value] of Object.entries(defaults)) table[path] ??= { value, layer: -1 };
  return table;
}

test('merging and its provenance agree with a table written line by line', async () => {
  const property = fc.asyncProperty(fc.array(layer, { minLength: 1, maxLength: 4 }), async (layers) => {
    const identity = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
    const names = layers.map((_, index) => `${index}.conf`);
    const texts = layers.map((each) => JSON.stringify({ ...identity, ...each }));
    await using folder = await configFiles(
      Object.fromEntries(names.map((name, i) => [name, texts[i] ?? ''])),
    );
    const { provenance } = await loadConfig({ configDir: folder.path, flags: {} });
    const expected = naively(layers);
    const shown = originTable(provenance).filter(
      ({ field, value }) => !isOther(field) && value !== undefined && JSON.stringify(value) !== '{}',
    );
    assert.deepEqual(
      Object.fromEntries(shown.map((row) => [row.field, [JSON.stringify(row.value), originOf(row.origin)]])),
      Object.fromEntries(Object.entries(expected).map(([path, { value, layer }]) => [path, [value, layer]])),
    );
  });
  await fc.assert(property, { numRuns: 150 });
});

/** Fields that the layers above never state. */
const isOther = (field: string) =>
  !/^(?:maxPods|address|protectKernelDefaults|clusterDNS|featureGates|cpuManagerPolicyOptions|authorization)\b/.test(
    field,
  );

const originOf = (origin: string) =>
  origin === 'default' ? -1 : Number(/(\d+)\.conf:\d+$/.exec(origin)?.[1]);
