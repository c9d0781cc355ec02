/** What a real systemd makes of the slices of pods. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SliceManager } from '../../src/agent/resources/index.ts';
import { systemdSlices } from '../../src/agent/resources/index.ts';
import type { LabMachine } from './lab/index.ts';
import { bootSystemd } from './lab/index.ts';

for (const root of ['bookworm', 'trixie'] as const) {
  describe(`slices of pods with systemd of ${root}`, () => {
    let machine: LabMachine;
    let slices: SliceManager;
    const pod = 'kubepods-burstable-pod7f1c5c1e_7f70_4d5f_9d0e_0c8f8f0f2a11.slice';

    before(async () => {
      machine = await bootSystemd({ root });
      slices = systemdSlices(2, (argv) => machine.run(['systemctl', ...argv]));
    });
    after(() => machine[Symbol.asyncDispose]());

    const limits = {
      cpuShares: 1024,
      cpuQuota: { quotaUs: 50_000, periodUs: 100_000 },
      memoryBytes: 67_108_864,
      pids: 40,
    };
    const show = () =>
      machine.show(pod, 'ActiveState', 'Slice', 'CPUWeight', 'CPUQuotaPerSecUSec', 'MemoryMax', 'TasksMax');

    test('are started with their limits, changed, keep them when systemd reads its files again, and stop', async () => {
      await slices.apply('kubepods.slice', { cpuShares: 2048 });
      await slices.apply(pod, limits);
      const first = {
        ActiveState: 'active',
        Slice: 'kubepods-burstable.slice',
        CPUWeight: '39',
        CPUQuotaPerSecUSec: '500ms',
        MemoryMax: '67108864',
        TasksMax: '40',
      };
      assert.deepEqual(await show(), first);
      await slices.apply(pod, { ...limits, cpuShares: 2, memoryBytes: 134_217_728 });
      const second = { ...first, CPUWeight: '1', MemoryMax: '134217728' };
      assert.deepEqual(await show(), second);
      await machine.sh('systemctl daemon-reload');
      assert.deepEqual(await show(), second);
      // systemd has made the one between by itself, without limits
      await slices.apply('kubepods-burstable.slice', { cpuShares: 512 });
      assert.equal((await machine.show('kubepods-burstable.slice', 'CPUWeight'))['CPUWeight'], '20');
      await slices.stop(pod);
      const gone = { ActiveState: 'inactive', CPUWeight: '[not set]', MemoryMax: 'infinity' };
      assert.deepEqual({ ...(await show()), ...gone }, await show());
      await slices.stop(pod);
    });
  });
}
