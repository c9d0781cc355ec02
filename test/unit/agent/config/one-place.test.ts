import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { documentationWith, sampleWith } from '../../../../scripts/generate/configuration.ts';
import { readFields, schemaOf } from '../../../../src/agent/config/field.ts';
import { duration, integer } from '../../../../src/agent/config/field-types.ts';
import { configFields } from '../../../../src/agent/config/fields.ts';
import { flagLayer } from '../../../../src/agent/config/flags.ts';
import { LiveConfig, loadConfig, originTable } from '../../../../src/agent/config/index.ts';
import { defaultLayer, validate, withoutZeros } from '../../../../src/agent/config/layers.ts';
import { mergeLayers } from '../../../../src/agent/config/located.ts';
import { parseText } from '../../../../src/agent/config/parse.ts';
import { explain } from '../../../../src/agent/config/view.ts';
import { checkerOf } from '../../../../src/api/schema/index.ts';
import { configFiles, writeConfig } from './config-files.ts';

const root = join(import.meta.dirname, '../../../..');
const name = 'nodeStatusMaxImages';

/** Every file below src that names the field. */
async function mentions(): Promise<string[]> {
  const entries = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const));
  const naming = texts.filter(([, text]) => text.includes(name));
  return naming.map(([file]) => relative(root, file)).sort();
}

describe('a field of the configuration', () => {
  test('is named in the table, and where it is used', async () => {
    assert.deepEqual(await mentions(), [
      'src/agent/assembly/assemble-heartbeats.ts',
      'src/agent/config/node-fields.ts',
    ]);
  });

  test('has its default, its type, its range and its origin, and is loaded again', async () => {
    await using folder = await configFiles({ 'c.yaml': 'maxPods: 1\n' });
    const file = join(folder.path, 'c.yaml');
    const load = () => loadConfig({ config: file, flags: {} });
    const first = await load();
    assert.equal(first.config.nodeStatusMaxImages, 50);
    for (const [value, problem] of [
      ['many', 'expected a 32-bit integer, found string "many"'],
      ['-2', 'must be from -1 to 1000000, not -2'],
    ] as const) {
      await writeConfig(file, `maxPods: 1\n${name}: ${value}\n`);
      await assert.rejects(load(), { message: `${file}:4:${name.length + 3}: ${name}: ${problem}` });
    }
    await writeConfig(file, `maxPods: 1\n${name}: 7\n`);
    const live = new LiveConfig({ first, load, prepare: async () => () => undefined });
    assert.deepEqual((await live.reload()).applied, [name]);
    assert.equal(live.current.nodeStatusMaxImages, 7);
    assert.deepEqual(
      originTable(live.loaded.provenance).find(({ field }) => field === name),
      { field: name, value: 7, origin: `${file}:4`, overrode: [{ value: 50, origin: 'default' }] },
    );
  });

  test('is in the sample and in the documentation', async () => {
    const [sample, page] = await Promise.all(
      ['etc/config.yaml', 'docs/configuration.md'].map((path) => readFile(join(root, path), 'utf8')),
    );
    assert.match(sample ?? '', /^# How many images .*\n#nodeStatusMaxImages: 50$/m);
    assert.match(
      page ?? '',
      /^\| `nodeStatusMaxImages` \| `50` \| -1 to 1000000 \| at once \| How many images /m,
    );
  });
});

test('a field that can be set by a flag is read from it', () => {
  const { layer, problems } = flagLayer({
    address: '::1',
    port: 1,
    containerRuntimeEndpoint: 'unix:///run/x.sock',
    seccompDefault: true,
    featureGates: 'AllAlpha=true',
  });
  assert.deepEqual(problems, []);
  const declared = Object.keys(configFields).filter((field) => configFields[field]?.flag);
  assert.deepEqual([...layer.entries.keys()].sort(), declared.sort());
});

/** The real table with two more entries, and nothing else. */
const fields = {
  ...configFields,
  maxImageMegabytes: integer(1, 500, {
    doc: 'How `large` an image is listed.',
    default: 90,
    needsRestart: true,
  }),
  imageListFrequency: duration('imageListFrequencyMs', ['1s', '1h'], { doc: 'How often.', default: '1m' }),
};

describe('one more entry of the table', () => {
  const parse = (text: string) => {
    const { value } = parseText(text, 'c.yaml');
    assert.ok(value?.type === 'map');
    return value;
  };
  const layersOf = (text: string) => {
    const stated = parse(text);
    const { layer, zeros } = withoutZeros(fields, stated);
    const defaults = defaultLayer(fields, layer, false);
    return { zeros, layers: [defaults, stated], merged: mergeLayers(defaults, layer) };
  };

  test('is in the schema', () => {
    const findings = { unknown: [], wrong: [] };
    checkerOf(schemaOf(fields))({ maxImageMegabytes: '1', other: 1 }, undefined, findings);
    assert.deepEqual(findings, {
      unknown: ['other'],
      wrong: [{ path: 'maxImageMegabytes', message: 'expected a 32-bit integer, found string "1"' }],
    });
  });

  test('has its default, also where a file states zero', () => {
    const { merged, zeros } = layersOf('imageListFrequency: 0s');
    assert.deepEqual(
      zeros.map(({ path }) => path),
      ['imageListFrequency'],
    );
    const { maxImageMegabytes, imageListFrequencyMs } = readFields(fields, merged);
    assert.deepEqual([maxImageMegabytes, imageListFrequencyMs], [90, 60_000]);
  });

  test('has its range, with the place of what is out of it', () => {
    const problems = validate(fields, layersOf('maxImageMegabytes: 501\nimageListFrequency: 2h').merged);
    const file = { kind: 'file', file: 'c.yaml' };
    assert.deepEqual(problems, [
      {
        at: { ...file, line: 1, column: 20 },
        path: 'maxImageMegabytes',
        message: 'must be from 1 to 500, not 501',
      },
      {
        at: { ...file, line: 2, column: 21 },
        path: 'imageListFrequency',
        message: 'must be from 1s to 1h, not 2h',
      },
    ]);
  });

  test('has its origin', () => {
    const { merged, layers } = layersOf('maxImageMegabytes: 5');
    assert.deepEqual(
      originTable(explain(merged, layers)).find(({ field }) => field === 'maxImageMegabytes'),
      {
        field: 'maxImageMegabytes',
        value: 5,
        origin: 'c.yaml:1',
        overrode: [{ value: 90, origin: 'default' }],
      },
    );
  });

  test('is in the sample and in the documentation', () => {
    const sample = sampleWith(fields, '# head\nkind: KubeletConfiguration\nbelow\n');
    assert.match(sample, /^# head\nkind: KubeletConfiguration\n\n# The IP address/);
    assert.match(sample, /\n# How large an image is listed\.\n#maxImageMegabytes: 90\n/);
    const marks = '<!-- The table of fields; made by scripts/generate.ts -->\n<!-- end -->';
    const page = documentationWith(fields, `before\n${marks}\nafter\n`);
    assert.match(
      page,
      /\n\| `maxImageMegabytes` \| `90` \| 1 to 500 \| restart \| How `large` an image is listed\. \|\n/,
    );
    assert.match(page, /^before\n[\s\S]*\n<!-- end -->\nafter\n$/);
  });
});
