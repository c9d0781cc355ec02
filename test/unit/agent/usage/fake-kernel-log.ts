import type { RecordSource } from '../../../../src/agent/usage/index.ts';

export interface FakeKill {
  readonly pid: number;
  /** Of the process. */
  readonly group: string;
  /** Default: the same; undefined: the machine as a whole. */
  readonly limited?: string | undefined;
  readonly name?: string;
  /** Processes of its group that are killed with it. */
  readonly with?: readonly number[];
  /** By the clock of the log. */
  readonly atUs?: number;
}

/** The kernel's log, to which a test adds records, with the words of Linux 6.18. */
export class FakeKernelLog {
  /** What it cannot be opened for. */
  refusal: string | undefined;
  /** How often it was opened. */
  opened = 0;
  readonly #records: string[] = [];
  #sequence = 0;
  #overwritten = 0;

  open = (): RecordSource => {
    if (this.refusal !== undefined) throw Object.assign(new Error(this.refusal), { code: this.refusal });
    this.opened += 1;
    let at = this.#overwritten;
    return {
      next: () => {
        if (at >= this.#overwritten) {
          const record = this.#records[at];
          if (record !== undefined) at += 1;
          return record;
        }
        at = this.#overwritten;
        throw Object.assign(new Error('overwritten'), { code: 'EPIPE' });
      },
      close: () => undefined,
    };
  };

  write(text: string, { facility = 6, atUs = 0 } = {}): void {
    this.#sequence += 1;
    this.#records.push(`${facility},${this.#sequence},${atUs},-;${text}\n`);
  }

  /** All that was written until now is gone. */
  overwrite(): void {
    this.#overwritten = this.#records.length;
  }

  kill({ pid, group, name = 'tail', atUs = 0, ...more }: FakeKill): void {
    const limited = 'limited' in more ? more.limited : group;
    const sizes = 'total-vm:19076kB, anon-rss:16256kB, file-rss:1676kB, shmem-rss:0kB, UID:0 pgtables:80kB';
    const dead = (each: number, what: string) =>
      this.write(`${what}: Killed process ${each} (${name}) ${sizes} oom_score_adj:0`, { facility: 3, atUs });
    const what = limited === undefined ? 'Out of memory' : 'Memory cgroup out of memory';
    if (limited !== undefined) this.write('memory: usage 65536kB, limit 65536kB, failcnt 20', { atUs });
    const constraint = limited === undefined ? 'CONSTRAINT_NONE' : 'CONSTRAINT_MEMCG';
    const whose = limited === undefined ? 'global_oom' : `oom_memcg=${limited}`;
    this.write(
      `oom-kill:constraint=${constraint},nodemask=(null),cpuset=/,mems_allowed=0,${whose},task_memcg=${group},task=${name},pid=${pid},uid=0`,
      { atUs },
    );
    dead(pid, what);
    if (more.with === undefined) return;
    this.write(`Tasks in ${group} are going to be killed due to memory.oom.group set`, { atUs });
    for (const each of more.with) dead(each, what);
  }
}
