import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock } from '../../../base/index.ts';
import type { Revision } from '../types.ts';
import { StorageError } from '../types.ts';
import type { RequestOpSchema, ResponseOp } from './gen/rpc_pb.js';
import { KV } from './gen/rpc_pb.js';
import type { KeyMap } from './key-map.ts';
import { ownPart } from './layout.ts';
import { revisionOf } from './values.ts';
import type { EtcdClient } from './wire/client.ts';
import { EtcdError } from './wire/errors.ts';
import type { EtcdTimes } from './wire/options.ts';

/*
 * The folders below the prefix, one for each kind, in which any program keeps objects: `deployments/`, `services/specs/`,
 * `example.com/widgets/`. etcd cannot search for a namespace in all of them at once, so they are found first, each with one
 * request for the first key behind the folder before, and then asked for the namespace one by one. That is done once; later
 * folders are learned from the events that the store follows anyway.
 *
 * A group of kinds has its kinds in folders of its own. It is recognized by the dot in its name, which the groups of custom
 * resources always have, or by the depth of its first key: a kind has `KIND/NAME` or `KIND/NAMESPACE/NAME` only.
 */

/** Questions in one transaction; etcd's own limit is 128 by default. */
const atOnce = 100;
/** More folders than any cluster has kinds: what is found beyond is an error, not a reason to go on. */
const maxFolders = 20_000;

export class Folders {
  readonly #client: EtcdClient;
  readonly #keys: KeyMap;
  /** Complete as of the last event; undefined while that is not known. */
  #known: Set<string> | undefined;
  /** What events tell while the folders are searched. */
  #observed: Set<string> | undefined;

  constructor(client: EtcdClient, keys: KeyMap) {
    this.#client = client;
    this.#keys = keys;
  }

  /** To be called with the key of each event, in order. */
  observe(key: Uint8Array): void {
    if (this.#known === undefined && this.#observed === undefined) return;
    const folder = folderOf(this.#keys.restOf(key));
    if (folder === undefined) return;
    this.#known?.add(folder);
    this.#observed?.add(folder);
  }

  /** To be called when events were missed: everything is searched again. */
  reset(): void {
    this.#known = undefined;
    this.#observed = undefined;
  }

  /** How many keys of a namespace are in each folder, except in those that are `own`. Rejects with an EtcdError. */
  async count(namespace: string, own: ReadonlySet<string>): Promise<Map<string, number>> {
    const folders = [...(this.#known ?? (await this.#search()))].filter((folder) => !own.has(folder));
    const counts = new Map<string, number>();
    for (let at = 0; at < folders.length; at += atOnce) {
      const some = folders.slice(at, at + atOnce);
      const success = some.map((folder) => countOf(this.#keys.range(`${folder}${namespace}/`)));
      const { responses } = await this.#client.call(KV.method.txn, { success }, { repeatable: true });
      for (const [index, folder] of some.entries()) {
        const count = countIn(responses[index]);
        if (count > 0) counts.set(folder, count);
      }
    }
    return counts;
  }

  async #search(): Promise<ReadonlySet<string>> {
    const observed = new Set<string>();
    this.#observed = observed;
    const found = new Set<string>();
    let revision = 0;
    for (let behind = ''; ; ) {
      const { key, at } = await this.#firstBehind(behind, revision);
      revision = at;
      if (key === undefined) break;
      const folder = folderOf(key);
      if (folder !== undefined) found.add(folder);
      const next = folder === undefined ? `${key}\0` : endOf(folder);
      if (next === behind) break; // only keys that are no text follow, and those are of no objects
      behind = next;
      if (found.size > maxFolders)
        throw new EtcdError('failed', `etcd has more than ${maxFolders} kinds of objects`);
    }
    const all = new Set([...found, ...observed]);
    if (this.#observed === observed) this.#known = all; // else events were missed meanwhile
    this.#observed = undefined;
    return all;
  }

  /** The first key that is not before `behind`, without the prefix, at a revision; 0: the newest, which is returned. */
  async #firstBehind(behind: string, revision: number): Promise<{ key: string | undefined; at: number }> {
    const { end } = this.#keys.root;
    const key = this.#keys.range(behind).from;
    const { kvs, header } = await this.#client.call(
      KV.method.range,
      { key, rangeEnd: end, keysOnly: true, limit: 1n, revision: BigInt(revision) },
      { repeatable: true },
    );
    const first = kvs[0]?.key;
    const at = revision === 0 ? revisionOf(header?.revision) : revision;
    return { key: first && this.#keys.restOf(first), at };
  }
}

/** The folder of a key without the prefix; undefined when it is in none, or is not of objects. */
export function folderOf(rest: string | undefined): string | undefined {
  const [first, second, third, fourth] = (rest ?? '').split('/', 4);
  if (first === undefined || second === undefined || `${first}/` === ownPart) return undefined;
  const isGroup = first.includes('.') || fourth !== undefined;
  if (!isGroup) return `${first}/`;
  return third === undefined ? undefined : `${first}/${second}/`;
}

/** The first text behind everything in a folder. */
function endOf(folder: string): string {
  return `${folder.slice(0, -1)}0`; // follows the slash
}

function countOf(range: { from: Uint8Array; end: Uint8Array }): MessageInitShape<typeof RequestOpSchema> {
  const value = { key: range.from, rangeEnd: range.end, countOnly: true };
  return { request: { case: 'requestRange', value } };
}

function countIn(answer: ResponseOp | undefined): number {
  const read = answer?.response;
  return read?.case === 'responseRange' ? Number(read.value.count) : 0;
}

/**
 * Resolves when the events up to a revision have been followed, or `signal` aborts. Rejects with a StorageError when that
 * takes longer than a call may.
 */
export async function untilFollowed(
  followed: { readonly revision: Revision },
  revision: Revision,
  { clock, times, client }: { clock: Clock; times: EtcdTimes; client: EtcdClient },
  signal: AbortSignal,
): Promise<void> {
  const endMs = clock.monotonicMs() + times.callMs;
  while (followed.revision < revision && !signal.aborted) {
    if (clock.monotonicMs() > endMs) {
      throw new StorageError('unavailable', `etcd at ${client.name} does not report what has changed`);
    }
    await clock.sleep(10, signal);
  }
}
