import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hierarchies } from '../../../../src/agent/usage/index.ts';

/** What a file of the kernel says, by hierarchy and file; with version 2 the hierarchy is empty. */
export type GroupTexts = Readonly<Record<string, string>>;

const controllers = ['cpu', 'cpuacct', 'memory', 'pids', 'blkio'] as const;

/** A tree of files that stand for those of the kernel. */
export class FakeGroups {
  readonly hierarchies: Hierarchies;
  readonly #mount: string;

  constructor(mount: string, version: 1 | 2) {
    this.#mount = mount;
    const roots = version === 2 ? [mount] : controllers.map((controller) => join(mount, controller));
    for (const root of roots) mkdirSync(root, { recursive: true });
    this.hierarchies = { version, roots };
  }

  /** Files by their path in the group; with version 1 `cpu/cpu.stat`. Makes the group in every hierarchy. */
  write(group: string, texts: GroupTexts): void {
    for (const root of this.hierarchies.roots) mkdirSync(join(root, group), { recursive: true });
    for (const [name, text] of Object.entries(texts)) {
      const [hierarchy = '', file = ''] = this.hierarchies.version === 2 ? ['', name] : name.split('/');
      writeFileSync(join(this.#mount, hierarchy, group, file), text);
    }
  }
}

/** A group of version 1 that has used a second of CPU and 64 MiB. */
export const separateGroup: GroupTexts = {
  'cpuacct/cpuacct.usage': '1000000000\n',
  'cpu/cpu.stat': 'nr_periods 30\nnr_throttled 20\nthrottled_time 5000000\n',
  'memory/memory.usage_in_bytes': '67108864\n',
  'memory/memory.limit_in_bytes': '134217728\n',
  'memory/memory.memsw.limit_in_bytes': '134217728\n',
  'memory/memory.stat':
    'cache 1\nrss 2\ninactive_file 9\ntotal_rss 1048576\ntotal_swap 4096\ntotal_pgfault 7\ntotal_pgmajfault 3\ntotal_inactive_file 7108864\n',
  'memory/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n',
  'pids/pids.current': '5\n',
  'pids/pids.max': 'max\n',
  'blkio/blkio.throttle.io_service_bytes_recursive': '8:0 Read 10\n8:0 Write 20\nTotal 30\n',
};

/** The same of version 2, with pressure. */
export const unifiedGroup: GroupTexts = {
  'cpu.stat':
    'usage_usec 1000000\nuser_usec 600000\nsystem_usec 400000\nnr_periods 30\nnr_throttled 20\nthrottled_usec 5000\n',
  'memory.current': '67108864\n',
  'memory.max': '134217728\n',
  'memory.swap.current': '4096\n',
  'memory.swap.max': '0\n',
  'memory.stat': 'anon 1048576\nfile 9\ninactive_file 7108864\npgfault 7\npgmajfault 3\n',
  'memory.events': 'low 0\nhigh 0\nmax 0\noom 2\noom_kill 2\n',
  'pids.current': '5\n',
  'pids.max': '40\n',
  'io.stat': '8:0 rbytes=10 wbytes=20 rios=1 wios=1 dbytes=0 dios=0\n',
  'memory.pressure':
    'some avg10=0.50 avg60=0.00 avg300=0.00 total=77\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=11\n',
};
