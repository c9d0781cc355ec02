import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { Measurements } from '../../../../../src/agent/node/index.ts';
import { createNodeUsage } from '../../../../../src/agent/server/stats/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const measured: Measurements = {
  cpus: 2,
  memory: { capacityBytes: 1000, availableBytes: 400 },
  swapBytes: 0,
  disk: { capacityBytes: 100, availableBytes: 30, inodes: 10, inodesFree: 4, askedMs: 0 },
  imageDisk: undefined,
  containerDisk: undefined,
  pids: { limit: 100, used: 7 },
  hugePages: [],
};

const files: Readonly<Record<string, string>> = {
  'proc/stat': 'cpu  100 0 50 900 10 1 2 0 0 0\nbtime 1735689600\n',
  'proc/meminfo': 'MemTotal: 4 kB\nMemFree: 1 kB\nAnonPages: 2 kB\n',
  'proc/vmstat': 'pgfault 5\npgmajfault 6\n',
  'proc/net/dev':
    'Inter-|\n face |\n    lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n  eth0: 1 0 2 0 0 0 0 0 3 0 4 0 0 0 0 0\n  veth1: 1 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0\n',
  'proc/net/route':
    'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\neth0\t00000000\t01\t3\t0\t0\t0\t00000000\n',
};

async function withFiles<T>(
  more: Readonly<Record<string, string>>,
  use: (root: string) => Promise<T>,
): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'usage-'));
  try {
    for (const [path, text] of Object.entries({ ...files, ...more })) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return await use(root);
  } finally {
    await rm(root, { recursive: true });
  }
}

function usageIn(root: string) {
  const clock = createManualClock();
  const usage = createNodeUsage({
    measure: () => Promise.resolve(measured),
    clock,
    procDir: join(root, 'proc'),
    sysDir: join(root, 'sys'),
  });
  const look = async () => {
    const answer = usage(new AbortController().signal);
    await clock.advance(200);
    return await answer;
  };
  return { clock, look };
}

describe('what the node uses', () => {
  test('is read from the kernel, and what it does not tell is left out', async () => {
    await withFiles({}, async (root) => {
      const { look } = usageIn(root);
      const { cpu, memory, network, fs, rlimit, startTime } = await look();
      assert.equal(startTime, '2025-01-01T00:00:00Z');
      assert.equal(cpu.usageCoreNanoSeconds, 1_530_000_000);
      const { time: _time, ...figures } = memory;
      assert.deepEqual(figures, {
        availableBytes: 400,
        usageBytes: 3 * 1024,
        workingSetBytes: 600,
        rssBytes: 2 * 1024,
        pageFaults: 5,
        majorPageFaults: 6,
      });
      const eth0 = { name: 'eth0', rxBytes: 1, rxErrors: 2, txBytes: 3, txErrors: 4 };
      assert.deepEqual(network, { time: memory.time, ...eth0, interfaces: [eth0] });
      assert.deepEqual([fs.usedBytes, fs.inodesUsed], [70, 6]);
      assert.deepEqual([rlimit?.maxpid, rlimit?.curproc], [100, 7]);
    });
  });

  test('is that of the root of the cgroups, where there is one', async () => {
    const group = {
      'sys/fs/cgroup/cpu.stat': 'usage_usec 1000\n',
      'sys/fs/cgroup/memory.stat': 'anon 11\npgfault 12\npgmajfault 13\n',
      'sys/fs/cgroup/memory.current': '14\n',
    };
    await withFiles(group, async (root) => {
      const { cpu, memory } = await usageIn(root).look();
      assert.equal(cpu.usageCoreNanoSeconds, 1_000_000);
      assert.deepEqual([memory.rssBytes, memory.pageFaults, memory.usageBytes], [11, 12, 14]);
    });
  });

  test('of the CPU is a rate since the last look', async () => {
    const path = 'sys/fs/cgroup/cpu.stat';
    await withFiles({ [path]: 'usage_usec 0\n' }, async (root) => {
      const { look, clock } = usageIn(root);
      assert.equal((await look()).cpu.usageNanoCores, 0);
      await clock.advance(9800);
      await writeFile(join(root, path), 'usage_usec 5000000\n');
      const { usageNanoCores, usageSpanMilliSeconds } = (await look()).cpu;
      assert.equal(usageNanoCores, 510_204_082, 'five seconds of work in 9.8 s');
      assert.equal(usageSpanMilliSeconds, 9800);
      await clock.advance(120_000);
      assert.equal((await look()).cpu.usageNanoCores, 0, 'a rate over minutes is none of now');
    });
  });
});
