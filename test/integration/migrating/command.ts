import assert from 'node:assert/strict';
import type { CommandResult, SupervisedProcess } from '../../support/index.ts';
import { startProcess } from '../../support/index.ts';
import type { LabEtcd } from '../lab/etcd.ts';
import { nodeward, program } from '../nodeward/index.ts';

let prefixes = 0;

/** A prefix of its own in an etcd, and migrations to and from it. */
export class MigratedEtcd {
  readonly prefix = `/migrated-${process.pid}-${++prefixes}`;
  readonly place: string;
  /** Of a server on it. */
  readonly args: readonly string[];

  constructor({ urls }: LabEtcd) {
    this.place = `etcd:${urls.join(',')}`;
    this.args = ['--storage', 'etcd', '--etcd-servers', urls.join(','), '--etcd-prefix', this.prefix];
  }

  from(root: string): readonly string[] {
    return this.#argv(`sqlite:${root}`, this.place);
  }

  to(root: string): readonly string[] {
    return this.#argv(this.place, `sqlite:${root}`);
  }

  #argv(from: string, to: string): readonly string[] {
    return ['storage', 'migrate', '--from', from, '--to', to, '--etcd-prefix', this.prefix];
  }
}

export interface Moved {
  readonly objects: number;
  readonly revision: number;
}

/** To its end, which must be good. */
export async function migrated(argv: readonly string[]): Promise<Moved> {
  const { code, stdout, stderr } = await migrate(argv);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

export function migrate(argv: readonly string[]): Promise<CommandResult> {
  return nodeward([...argv, '-o', 'json'], 120_000);
}

/** Whoever starts it sees it to its end. */
export function startMigration(argv: readonly string[]): Promise<SupervisedProcess> {
  const [node, script] = program;
  return startProcess(node, [script, ...argv]);
}
