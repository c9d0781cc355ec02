import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { configFields } from '../../../../src/agent/config/fields.ts';
import { loadConfig } from '../../../../src/agent/config/index.ts';

const sample = join(import.meta.dirname, '../../../../etc/config.yaml');

test('the sample configuration states the defaults, and every field that counts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sample-'));
  try {
    const text = await readFile(sample, 'utf8');
    const uncommented = join(folder, 'config.yaml');
    await writeFile(uncommented, text.replaceAll(/^#(?=[a-zA-Z]| {2}[\w.]+:)/gm, ''));
    const sources = { flags: {} };
    const defaults = await loadConfig(sources);
    assert.deepEqual((await loadConfig({ ...sources, config: sample })).config, defaults.config);
    const full = await loadConfig({ ...sources, config: uncommented });
    assert.deepEqual(full.config, defaults.config);
    assert.deepEqual(full.warnings, []);
    const stated = (await readFile(uncommented, 'utf8')).matchAll(/^(\w+):/gm);
    assert.deepEqual(
      [...stated].map(([, name]) => name).sort(),
      ['apiVersion', 'kind', ...Object.keys(configFields)].sort(),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
