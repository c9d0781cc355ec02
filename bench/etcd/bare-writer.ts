/**
 * The same puts without a control plane: 64 writers, each of which replaces its own keys in one transaction on the revision
 * that it was answered. Run by bench/etcd.ts with what is to be done as JSON; prints a line for each part.
 */
import { readFileSync } from 'node:fs';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import type { TxnResponse } from '../../src/apiserver/storage/etcd/gen/rpc_pb.js';
import { TxnRequestSchema, TxnResponseSchema } from '../../src/apiserver/storage/etcd/gen/rpc_pb.js';
import type { EtcdTls } from '../../src/apiserver/storage/etcd/index.ts';
import { EtcdStore } from '../../src/apiserver/storage/etcd/index.ts';
import { KeyMap } from '../../src/apiserver/storage/etcd/key-map.ts';
import { EtcdClient } from '../../src/apiserver/storage/etcd/wire/client.ts';
import { parseEndpoints } from '../../src/apiserver/storage/etcd/wire/endpoints.ts';
import { defaultTimes } from '../../src/apiserver/storage/etcd/wire/options.ts';
import { createTransaction, transact } from '../../src/apiserver/storage/etcd/write.ts';
import { createCache } from '../../src/apiserver/storage/index.ts';
import type { Stored } from '../../src/apiserver/storage/types.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';
import { cpuMs } from '../apiserver/process-cost.ts';

/** By which way the puts go: grpc-js, our connection, the store on it, the cache in front of that. */
export type Way = 'grpc-js' | 'connection' | 'store' | 'cache';

export interface BareWork {
  readonly way: Way;
  readonly urls: readonly string[];
  readonly tls: EtcdTls;
  readonly prefix: string;
  readonly writers: number;
  readonly keys: number;
  readonly valueBytes: number;
  readonly warmUp: number;
  readonly count: number;
  readonly parts: number;
  readonly etcd: readonly number[];
}

/** Per put, of this process and of etcd. */
export interface BareCost {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly etcdCpuMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Replaces a key whose last revision is given; answers the new one. */
interface Writer extends AsyncDisposable {
  put(index: number, value: Uint8Array): Promise<void>;
}

type Txn = MessageInitShape<typeof TxnRequestSchema>;

const work: BareWork = JSON.parse(process.argv[2] ?? '');
const text = (key: number) => `/leases/kube-node-lease/node-${String(key).padStart(5, '0')}`;

/** By transactions that are sent as `send` does. */
function transacting(send: (request: Txn) => Promise<TxnResponse>, end: () => void): Writer {
  const { readOnlyKey } = new KeyMap(work.prefix);
  const revisions = new Float64Array(work.keys);
  const keys = Array.from(revisions, (_, key) => Buffer.from(work.prefix + text(key)));
  return {
    async put(index, value) {
      const expect = revisions[index] ?? 0;
      const request = createTransaction(
        { key: '', expect, value },
        keys[index] ?? new Uint8Array(),
        readOnlyKey,
        true,
      );
      const response = await send(request);
      if (!response.succeeded) throw new Error('a put was not accepted');
      revisions[index] = Number(response.header?.revision);
    },
    async [Symbol.asyncDispose]() {
      end();
    },
  };
}

function overGrpcJs(): Writer {
  const { urls, tls } = work;
  const read = (path = '') => readFileSync(path);
  const trust = credentials.createSsl(read(tls.caFile), read(tls.keyFile), read(tls.certFile));
  const client = new Client((urls[0] ?? '').replace('https://', ''), trust, {
    'grpc.ssl_target_name_override': 'localhost', // an address may not be the name that is asked for
  });
  const send = (request: Txn) =>
    new Promise<TxnResponse>((resolve, reject) =>
      client.makeUnaryRequest(
        '/etcdserverpb.KV/Txn',
        (message: Txn) => Buffer.from(toBinary(TxnRequestSchema, create(TxnRequestSchema, message))),
        (bytes) => fromBinary(TxnResponseSchema, bytes),
        request,
        { deadline: Date.now() + defaultTimes.callMs },
        (error, response) => {
          if (response === undefined) reject(error ?? new Error('no answer'));
          else resolve(response);
        },
      ),
    );
  return transacting(send, () => client.close());
}

function overConnection(): Writer {
  const endpoints = parseEndpoints(work.urls);
  const [clock, log] = [systemClock, silentLogger()];
  const client = new EtcdClient({ endpoints, tls: work.tls, times: defaultTimes, clock, log });
  const send = (request: Txn) => client.call(transact, request, { repeatable: false });
  return transacting(send, () => client[Symbol.dispose]());
}

async function overStore(): Promise<Writer> {
  const { urls: servers, tls, prefix } = work;
  const opened = await EtcdStore.open({ servers, tls, prefix, identity: { groupSuffix: 'k8s.io' } });
  const store = work.way === 'cache' ? await createCache(opened) : opened;
  const last: (Stored | undefined)[] = [];
  return {
    async put(index, value) {
      const key = `/registry${text(index)}`;
      const previous = last[index];
      const outcome = await store.commit({ key, expect: previous?.revision ?? 0, value, previous });
      if (!outcome.ok) throw new Error(`a put was not accepted: ${outcome.code}`);
      last[index] = outcome.now ?? undefined;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

async function open(): Promise<Writer> {
  if (work.way === 'grpc-js') return overGrpcJs();
  return work.way === 'connection' ? overConnection() : await overStore();
}

async function part(writer: Writer, count: number): Promise<BareCost> {
  const { writers, keys, valueBytes, etcd } = work;
  const share = Math.floor(keys / writers);
  const latencies: number[] = [];
  let left = count;
  const one = async (index: number) => {
    for (let step = 0; left-- > 0; step++) {
      const sentMs = performance.now();
      const value = Buffer.alloc(valueBytes, `${step}`);
      await writer.put(index * share + (step % share), new Uint8Array(value));
      latencies.push(performance.now() - sentMs);
    }
  };
  const etcdMs = async () => (await Promise.all(etcd.map(cpuMs))).reduce((sum, each) => sum + each, 0);
  const [etcdBefore, before, startedMs] = [await etcdMs(), process.cpuUsage(), performance.now()];
  await Promise.all(Array.from({ length: writers }, (_, index) => one(index)));
  const [tookMs, used] = [performance.now() - startedMs, process.cpuUsage(before)];
  latencies.sort((a, b) => a - b);
  return {
    perSecond: (count * 1000) / tookMs,
    cpuMs: (used.user + used.system) / 1000 / count,
    etcdCpuMs: ((await etcdMs()) - etcdBefore) / count,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  };
}

await using writer = await open();
await part(writer, work.warmUp);
for (let done = 0; done < work.parts; done++) {
  process.stdout.write(`${JSON.stringify(await part(writer, work.count))}\n`);
}
