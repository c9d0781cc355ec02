import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../../../src/agent/config/index.ts';
import { configFiles } from './config-files.ts';

async function warningsOf(files: Record<string, string>, configDir: string) {
  await using folder = await configFiles(files);
  const { warnings, config } = await loadConfig({ configDir: join(folder.path, configDir), flags: {} });
  return { config, warnings: warnings.map((warning) => warning.replaceAll(`${folder.path}/`, '')) };
}

describe('files of a drop-in folder that do not end in .conf were passed over without a word', () => {
  test('each is a warning, in subfolders too; what editors and package managers leave is none', async () => {
    const { warnings, config } = await warningsOf(
      {
        'd/10.conf': 'maxPods: 4\n',
        'd/20.yaml': 'maxPods: 5\n',
        'd/sub/x.json': '{}',
        'd/.10.conf.swp': '',
        'd/10.conf~': '',
        'd/10.conf.dpkg-old': '',
        'd/README.md': '',
      },
      'd',
    );
    assert.equal(config.maxPods, 4);
    assert.deepEqual(warnings, [
      'd/20.yaml: passed over, for its name does not end in .conf',
      'd/sub/x.json: passed over, for its name does not end in .conf',
    ]);
  });

  test('many are counted', async () => {
    const many = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`d/${index}.yaml`, '']));
    const { warnings } = await warningsOf(many, 'd');
    assert.equal(warnings.length, 11);
    assert.equal(warnings[10], '4 more files do not end in .conf, and are passed over');
  });

  test('a folder that is missing is a warning, so that an installed agent starts without it', async () => {
    const { warnings } = await warningsOf({ 'd/10.conf': '' }, 'none');
    assert.deepEqual(warnings, ['none: there is no such folder, so no drop-ins']);
  });
});
