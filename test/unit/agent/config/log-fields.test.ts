import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../../../src/agent/config/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function load(text = '') {
  await using folder = await temporaryFolder();
  const config = join(folder.path, 'config.yaml');
  await writeFile(config, head + text);
  const loaded = await loadConfig({ flags: {}, config });
  assert.deepEqual(loaded.warnings, []);
  return { ...loaded.config.logs, at: folder.path };
}

test('logs are kept as by the reference', async () => {
  const { at: _, ...logs } = await load();
  assert.deepEqual(logs, {
    folder: '/var/log/pods',
    maxBytes: 10 * 1024 * 1024,
    maxFiles: 5,
    workers: 1,
    intervalMs: 10_000,
  });
});

test('logs are kept as stated', async () => {
  const { at, ...logs } = await load(
    'podLogsDir: logs\ncontainerLogMaxSize: 1.5Ki\ncontainerLogMaxFiles: 2\ncontainerLogMaxWorkers: 4\ncontainerLogMonitorInterval: 3s\n',
  );
  assert.deepEqual(logs, {
    folder: join(at, 'logs'),
    maxBytes: 1536,
    maxFiles: 2,
    workers: 4,
    intervalMs: 3000,
  });
  assert.equal((await load('containerLogMaxSize: "-1"\n')).maxBytes, Number.POSITIVE_INFINITY);
});

test('what makes no sense is refused', async () => {
  const cases = {
    'podLogsDir: /': /podLogsDir: "\/" cannot be the folder of logs/,
    'podLogsDir: /var/log/pöds': /podLogsDir: .*not printable ASCII/,
    'containerLogMaxSize: many': /containerLogMaxSize: must be an amount, such as 10Mi, not "many"/,
    'containerLogMaxSize: "0"': /containerLogMaxSize: must be an amount/,
    'containerLogMaxFiles: 1': /containerLogMaxFiles: must be from 2 to 10000, not 1/,
    'containerLogMaxWorkers: -1': /containerLogMaxWorkers: must be from 1 to 100/,
    'containerLogMonitorInterval: 2s': /containerLogMonitorInterval: must be from 3s/,
  };
  for (const [text, message] of Object.entries(cases)) await assert.rejects(load(`${text}\n`), message, text);
});
