import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { readMemory, readSwap } from '../../../../src/agent/node/memory.ts';
import { temporaryFolder } from '../../../support/index.ts';

const meminfo = 'MemTotal: 1000 kB\nMemFree: 200 kB\nMemAvailable: 700 kB\nSwapTotal: 64 kB\n';
const kibibytes = (count: number) => String(count * 1024);
/** What cgroup v1 says where there is no limit. */
const noLimitV1 = '9223372036854771712';

const cases: [string, Record<string, string>, { capacity: number; available: number }][] = [
  ['no cgroups at all: what the kernel calls available', {}, { capacity: 1000, available: 700 }],
  [
    'cgroup v1: usage of the root without inactive file pages',
    {
      'memory/memory.usage_in_bytes': kibibytes(600),
      'memory/memory.limit_in_bytes': noLimitV1,
      'memory/memory.stat': `inactive_file 1\ntotal_inactive_file ${kibibytes(100)}\n`,
    },
    { capacity: 1000, available: 500 },
  ],
  [
    'cgroup v2: the root has no usage, so what is not free counts',
    { 'memory.stat': `anon 1\ninactive_file ${kibibytes(300)}\n` },
    { capacity: 1000, available: 500 },
  ],
  [
    'in a container with a limit (v2): the limit, and its own usage',
    {
      'memory.max': `${kibibytes(400)}\n`,
      'memory.current': kibibytes(350),
      'memory.stat': `inactive_file ${kibibytes(50)}\n`,
    },
    { capacity: 400, available: 100 },
  ],
  [
    'in a container without a limit (v2): the machine',
    { 'memory.max': 'max\n', 'memory.current': kibibytes(10), 'memory.stat': 'inactive_file 0\n' },
    { capacity: 1000, available: 700 },
  ],
  [
    'in a container with a limit (v1)',
    {
      'memory/memory.usage_in_bytes': kibibytes(300),
      'memory/memory.limit_in_bytes': kibibytes(256),
      'memory/memory.stat': `total_inactive_file ${kibibytes(20)}\n`,
    },
    { capacity: 256, available: 0 },
  ],
];

for (const [name, groups, { capacity, available }] of cases) {
  test(name, async () => {
    await using folder = await temporaryFolder();
    const files = Object.entries(groups).map(([path, text]) => [`sys/fs/cgroup/${path}`, text] as const);
    for (const [path, text] of [['proc/meminfo', meminfo] as const, ...files]) {
      await mkdir(dirname(`${folder.path}/${path}`), { recursive: true });
      await writeFile(`${folder.path}/${path}`, text);
    }
    assert.deepEqual(readMemory(`${folder.path}/proc`, `${folder.path}/sys`), {
      capacityBytes: capacity * 1024,
      availableBytes: available * 1024,
    });
    assert.equal(readSwap(`${folder.path}/proc`), 64 * 1024);
  });
}

test('nothing where the kernel does not tell', () => {
  assert.equal(readMemory('/nowhere', '/nowhere'), undefined);
  assert.equal(readSwap('/nowhere'), 0);
});
