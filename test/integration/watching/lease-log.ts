import assert from 'node:assert/strict';
import type { Lease } from '../../../src/api/index.ts';
import { leaseKind } from '../../../src/api/index.ts';
import type { ApiClient } from '../../../src/client/index.ts';

interface Written {
  readonly name: string;
  readonly version: number;
  /** Null: deleted. */
  readonly value: number | null;
}

const namespace = 'default';

/** Writes leases one after the other and knows what a watch must send of that. */
export class LeaseLog {
  readonly #written: Written[] = [];
  /** The versions that leases are at. */
  readonly #present = new Map<string, string>();

  /** Of every write, in order; first one from before all of them. */
  readonly versions: number[];

  constructor(start: number) {
    this.versions = [start];
  }

  /** The newest version there is, by a list. */
  static async newest(api: ApiClient): Promise<number> {
    const { metadata } = await api.list(leaseKind, { namespace, limit: 1 });
    return Number(metadata.resourceVersion);
  }

  /** Writes one, null: deletes it. What is not there is not deleted. */
  async write(api: ApiClient, name: string, value: number | null): Promise<void> {
    const resourceVersion = this.#present.get(name);
    if (value === null) {
      if (resourceVersion !== undefined) await this.#delete(api, name);
      return;
    }
    const labels = { even: String(value % 2 === 0) };
    const metadata = { name, namespace, labels };
    const spec = { leaseTransitions: value };
    const written: Lease =
      resourceVersion === undefined
        ? await api.create(leaseKind, { metadata, spec })
        : await api.replace(leaseKind, { metadata: { ...metadata, resourceVersion }, spec });
    const version = Number(written.metadata?.resourceVersion);
    this.#present.set(name, String(version));
    if (version > (this.versions.at(-1) ?? 0)) this.#note({ name, value, version }); // else nothing was changed
  }

  /** Events after a version, as `TYPE name value@version`, for a watch of what `isSelected`. */
  eventsAfter(version: number, isSelected: (value: number) => boolean): readonly string[] {
    const before = new Map<string, number>();
    return this.#written.flatMap((write) => {
      const { name, value } = write;
      const old = before.get(name);
      if (value === null) before.delete(name);
      else before.set(name, value);
      if (write.version <= version) return [];
      const was = old !== undefined && isSelected(old);
      if (value !== null && isSelected(value)) return [eventLine(was ? 'MODIFIED' : 'ADDED', write, value)];
      return was ? [eventLine('DELETED', write, old)] : [];
    });
  }

  /** What there is at a version: `name value@version`, by name. */
  stateAt(version: number, isSelected: (value: number) => boolean): readonly string[] {
    const state = new Map<string, Written>();
    for (const write of this.#written) if (write.version <= version) state.set(write.name, write);
    return [...state.values()]
      .flatMap((write) => {
        const { value } = write;
        return value !== null && isSelected(value) ? [eventLine('ADDED', write, value)] : [];
      })
      .toSorted();
  }

  async #delete(api: ApiClient, name: string): Promise<void> {
    const before = await LeaseLog.newest(api);
    await api.delete(leaseKind, name, { namespace });
    const after = await LeaseLog.newest(api);
    this.#present.delete(name);
    // no answer tells the version: a watch does
    const from = { resourceVersion: String(before), timeoutSeconds: 20 };
    const options = { namespace, ...from, fieldSelector: `metadata.name=${name}` };
    for await (const { type, object } of api.watch(leaseKind, options)) {
      assert.equal(type, 'DELETED');
      const version = Number(object.metadata?.resourceVersion);
      assert.ok(version > before && version <= after, `${name} is deleted at ${version}`);
      this.#note({ name, value: null, version });
      return;
    }
    assert.fail(`nobody told that ${name} was deleted`);
  }

  #note(written: Written): void {
    this.#written.push(written);
    this.versions.push(written.version);
  }
}

function eventLine(type: string, { name, version }: Written, value: number): string {
  return `${type} ${name} ${value}@${version}`;
}
