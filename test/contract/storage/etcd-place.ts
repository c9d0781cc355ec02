import '../../support/bounded-file.ts';
import { existsSync } from 'node:fs';
import { after } from 'node:test';
import type { Store, StoreOptions } from '../../../src/apiserver/storage/index.ts';
import { openStore } from '../../../src/apiserver/storage/index.ts';
import type { EtcdOptions, LabEtcd } from '../../integration/lab/etcd.ts';
import { startEtcd } from '../../integration/lab/etcd.ts';
import { fetched } from '../../integration/lab/folder.ts';

export type EtcdStoreOptions = Extract<StoreOptions, { kind: 'etcd' }>;

/** Why no etcd can be had on this machine; undefined: one can. */
export function etcdLack(): string | undefined {
  try {
    return existsSync(fetched('tools/bin/etcd')) ? undefined : 'etcd is missing';
  } catch (error) {
    return String(error);
  }
}

/** One etcd for all tests of a file, started when it is first wanted and gone after the last. */
export function sharedEtcd(options: EtcdOptions): () => Promise<LabEtcd> {
  let started: Promise<LabEtcd> | undefined;
  after(async () => {
    await (await started)?.[Symbol.asyncDispose]();
  });
  return () => {
    started ??= startEtcd(options);
    return started;
  };
}

let places = 0;

/** A prefix of its own in a cluster, with all stores that were opened on it. */
export class EtcdPlace implements AsyncDisposable {
  readonly prefix = `/place-${process.pid}-${++places}`;
  readonly #etcd: LabEtcd;
  readonly #stores: Store[] = [];

  constructor(etcd: LabEtcd) {
    this.#etcd = etcd;
  }

  async open(options: Partial<EtcdStoreOptions> & { historyMs?: number } = {}): Promise<Store> {
    const { historyMs = 0, ...others } = options;
    const store = await openStore({
      kind: 'etcd',
      servers: this.#etcd.urls,
      prefix: this.prefix,
      identity: { groupSuffix: 'k8s.io' },
      compactionIntervalMs: historyMs,
      ...others,
    });
    this.#stores.push(store);
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
  }
}
