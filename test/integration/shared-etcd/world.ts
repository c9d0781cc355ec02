import type { ApiObject, Kind } from '../../../src/api/index.ts';
import { canonicalObject, encodeObject, nodeKind, podKind } from '../../../src/api/index.ts';
import { controlPlaneUser } from '../../../src/apiserver/authn/index.ts';
import {
  bootstrapTokenExpiry,
  defaultServiceAccounts,
  namespaceDeletion,
  nodeLifecycle,
  ownerGarbage,
  PodGarbageService,
  roleAggregation,
} from '../../../src/apiserver/controllers/index.ts';
import type { Registry, Resource } from '../../../src/apiserver/registry/index.ts';
import { createRegistry, createValueReader } from '../../../src/apiserver/registry/index.ts';
import type { CachedStore } from '../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../src/apiserver/storage/index.ts';
import type { Service } from '../../../src/base/index.ts';
import { systemClock } from '../../../src/base/index.ts';
import { RawEtcd } from '../../contract/storage/etcd-raw.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { recordedLog } from '../../unit/base/recorded-log.ts';
import type { LabEtcd } from '../lab/etcd.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** Forty seconds of a controller take half a second. */
const haste = 80;

/** How another program may leave a value. */
export type Rewriting = 'protobuf' | 'encrypted' | 'damaged';

let places = 0;

/** The controllers of a control plane on an etcd to which another program writes. */
export class SharedWorld implements AsyncDisposable {
  readonly prefix: string;
  readonly storage: CachedStore;
  readonly registry: Registry;
  readonly raw: RawEtcd;
  readonly #log = recordedLog();
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  private constructor(storage: CachedStore, raw: RawEtcd, prefix: string) {
    this.storage = storage;
    this.raw = raw;
    this.prefix = prefix;
    this.registry = createRegistry({ storage, clock: systemClock, groupSuffix: 'k8s.io', admission: [] });
  }

  static async open(etcd: LabEtcd, prefix = `/shared-${process.pid}-${++places}`): Promise<SharedWorld> {
    const store = await openStore({
      kind: 'etcd',
      servers: etcd.urls,
      prefix,
      identity: { groupSuffix: 'k8s.io' },
      readValue: createValueReader('k8s.io'),
    });
    const raw = new RawEtcd(etcd.urls[0] ?? '');
    return new SharedWorld(await createCache(store), raw, prefix);
  }

  /** A further server on the same objects. */
  again(etcd: LabEtcd): Promise<SharedWorld> {
    return SharedWorld.open(etcd, this.prefix);
  }

  get log(): string {
    return this.#log.text();
  }

  /** Starts the controllers; resolves when all follow what is stored. */
  async start(): Promise<void> {
    const { registry, storage } = this;
    const options = { registry, storage, clock: fastClock(haste), log: this.#log.log };
    const services: Service[] = [
      namespaceDeletion({ ...options, clock: systemClock }),
      ownerGarbage(options),
      new PodGarbageService(options),
      nodeLifecycle({ ...options, settings: { evictionRate: 100, unhealthyZoneThreshold: 1 } }),
      defaultServiceAccounts(options),
      bootstrapTokenExpiry(options),
      roleAggregation(options),
    ];
    const runs: Promise<unknown>[] = [];
    for (const service of services) {
      await new Promise<void>((ready) => runs.push(service.run(this.#stop.signal, ready)));
    }
    this.#running = Promise.all(runs);
  }

  async create<T extends ApiObject>(kind: Kind<T>, namespace: string, object: T): Promise<T> {
    const resource = this.registry.of(kind);
    return resource.encoding.read(await resource.create(namespace, object, context));
  }

  async delete<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): Promise<void> {
    await this.registry.of(kind).delete(namespace, name, {}, context);
  }

  /** Changes the status of a cluster-scoped object. */
  async change<T extends ApiObject>(
    resource: Resource<T>,
    name: string,
    make: (object: T) => T,
  ): Promise<void> {
    await resource.change({ namespace: '', name }, { make, operation: 'Update' }, 'status', context);
  }

  /** Whether there is a key of it in etcd; asks etcd itself. */
  async exists<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): Promise<boolean> {
    const key = this.#keyOf(kind, namespace, name);
    return (await this.raw.list(key)).some((line) => line.startsWith(`${key}=`));
  }

  /** Another program writes the object again; resolves when this one follows it. */
  async rewrite<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string,
    name: string,
    how: Rewriting,
  ): Promise<void> {
    const resource = this.registry.of(kind);
    const object = resource.encoding.read(resource.get(namespace, name));
    const labels = { ...object.metadata?.labels, rewritten: how };
    const { resourceVersion: _version, ...metadata } = { ...object.metadata, labels };
    const value = rewrittenValue(kind, { ...object, metadata }, how);
    const revision = await this.raw.put([this.#keyOf(kind, namespace, name), value]);
    await this.storage.waitFor(revision, AbortSignal.timeout(10_000));
  }

  /** A node without an agent, and a pod on it. */
  async createNodeWithPod(node: string): Promise<void> {
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    await this.create(nodeKind, '', { metadata: { name: node }, status });
    await this.createPod(`on-${node}`, node);
  }

  async createPod(name: string, nodeName: string): Promise<void> {
    const containers = [{ name: 'c', image: 'i' }];
    await this.create(podKind, 'default', { metadata: { name }, spec: { nodeName, containers } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.storage.close();
    this.raw[Symbol.dispose]();
  }

  #keyOf<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): string {
    const folder = kind.resource === 'nodes' ? 'minions' : kind.resource;
    return [this.prefix, folder, ...(namespace === '' ? [] : [namespace]), name].join('/');
  }
}

function rewrittenValue<T extends ApiObject>(kind: Kind<T>, object: T, how: Rewriting): Buffer {
  switch (how) {
    case 'protobuf':
      return encodeObject(kind, canonicalObject(kind, object), 'protobuf');
    case 'encrypted':
      return Buffer.concat([Buffer.from('k8s:enc:aescbc:v1:key1:'), Buffer.from([0x9d, 0x01, 0xfe])]);
    case 'damaged':
      return Buffer.from(JSON.stringify(object).slice(0, -20));
  }
}
