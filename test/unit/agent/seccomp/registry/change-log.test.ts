import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChangeLog } from '../../../../../src/agent/seccomp/registry/change-log.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

test('pods that name thousands of missing profiles do not flood the log, and what is left out is told', async () => {
  const clock = createManualClock();
  const { log, text } = recordedLog();
  const logChange = createChangeLog(log, clock);
  const after = { kind: 'missing', judgedMs: 0 } as const;
  const missing = (path: string) => logChange({ path, before: undefined, after }, true);

  for (let n = 0; n < 10_800; n += 1) missing(`${n}.json`);
  await clock.advance(1000);
  missing('last.json');

  const lines = text().trim().split('\n');
  assert.equal(lines.length, 101);
  assert.match(lines[0] ?? '', /"profile":"0\.json"/);
  assert.match(lines[100] ?? '', /"leftOut":10700.*"profile":"last\.json"/);
});
