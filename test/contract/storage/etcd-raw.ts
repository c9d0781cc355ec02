import type { MessageInitShape } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import type { RequestOpSchema } from '../../../src/apiserver/storage/etcd/gen/rpc_pb.js';
import { AlarmRequest_AlarmAction, KV, Maintenance } from '../../../src/apiserver/storage/etcd/gen/rpc_pb.js';
import { callUnary } from '../../../src/base/grpc/index.ts';

const { GET: get, DEACTIVATE: deactivate } = AlarmRequest_AlarmAction;

/** etcd as any other of its clients uses it. */
export class RawEtcd implements Disposable {
  readonly #client: Client;

  constructor(url: string) {
    this.#client = new Client(new URL(url).host, credentials.createInsecure());
  }

  /** Answers the revision. */
  async put(...pairs: readonly (readonly [key: string, value: string | Uint8Array])[]): Promise<number> {
    const puts = pairs.map(
      ([key, value]): MessageInitShape<typeof RequestOpSchema> => ({
        request: { case: 'requestPut', value: { key: Buffer.from(key), value: bytesOf(value) } },
      }),
    );
    return await this.#do(puts);
  }

  async remove(...keys: readonly string[]): Promise<number> {
    return await this.#do(
      keys.map((key) => ({ request: { case: 'requestDeleteRange', value: { key: Buffer.from(key) } } })),
    );
  }

  /** All that start with a prefix, as `key=value`. */
  async list(prefix: string): Promise<string[]> {
    const from = Buffer.from(prefix);
    const rangeEnd = Buffer.concat([from, Buffer.of(0xff)]);
    const { kvs } = await callUnary(
      this.#client,
      KV.method.range,
      { key: from, rangeEnd },
      { deadlineMs: 5_000 },
    );
    return kvs.map(({ key, value }) => `${Buffer.from(key)}=${Buffer.from(value)}`);
  }

  async compact(revision: number): Promise<void> {
    await callUnary(this.#client, KV.method.compact, { revision: BigInt(revision) }, { deadlineMs: 5_000 });
  }

  /** Makes room and ends the alarm that there is none. */
  async mend(): Promise<void> {
    await callUnary(this.#client, Maintenance.method.defragment, {}, { deadlineMs: 10_000 });
    const every = { deadlineMs: 5_000 };
    const { alarms } = await callUnary(this.#client, Maintenance.method.alarm, { action: get }, every);
    for (const { memberId, alarm } of alarms) {
      await callUnary(this.#client, Maintenance.method.alarm, { action: deactivate, memberId, alarm }, every);
    }
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  async #do(success: MessageInitShape<typeof RequestOpSchema>[]): Promise<number> {
    const { header } = await callUnary(this.#client, KV.method.txn, { success }, { deadlineMs: 5_000 });
    return Number(header?.revision);
  }
}

function bytesOf(value: string | Uint8Array): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value;
}
