import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HistoryCuts } from '../../../../../../src/apiserver/storage/sqlite/client/history-cuts.ts';
import { createManualClock } from '../../../../../support/manual-clock.ts';
import { recordedLog } from '../../../../base/recorded-log.ts';

const windowMs = 300_000;

function cutsAt() {
  const clock = createManualClock();
  const { log, text } = recordedLog('json', 'info');
  const cuts = new HistoryCuts({ clock, log, file: '/somewhere/store.db', limitBytes: 1000 });
  const told = () => text().match(/history of .*? is kept instead of .*? s/g) ?? [];
  return { clock, cuts, told };
}

describe('cuts of history', () => {
  test('are counted, and told with what is left when that is too little', () => {
    const { cuts, told } = cutsAt();
    cuts.add({ windowMs, keptMs: 41_300 });
    assert.equal(cuts.count, 1);
    assert.deepEqual(told(), ['history of 41 s is kept instead of 300 s']);
  });

  test('are not told while the whole window is kept', () => {
    const { cuts, told } = cutsAt();
    cuts.add({ windowMs, keptMs: windowMs });
    assert.equal(cuts.count, 1);
    assert.deepEqual(told(), []);
    cuts.add({ windowMs, keptMs: 5_000 });
    assert.deepEqual(told(), ['history of 5 s is kept instead of 300 s']);
  });

  test('are told once a minute', async () => {
    const { clock, cuts, told } = cutsAt();
    for (let cut = 0; cut < 130; cut++) {
      cuts.add({ windowMs, keptMs: 20_000 });
      await clock.advance(1000);
    }
    assert.equal(cuts.count, 130);
    assert.equal(told().length, 3);
  });
});
