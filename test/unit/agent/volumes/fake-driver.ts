import { mkdir, rm, writeFile } from 'node:fs/promises';
import type {
  DriverAbility,
  ExpandRequest,
  PublishRequest,
  StageRequest,
  VolumeDriver,
  VolumeDrivers,
  VolumeStats,
} from '../../../../src/agent/volumes/index.ts';
import { DriverError } from '../../../../src/agent/volumes/index.ts';

export type DriverCall = 'stage' | 'unstage' | 'publish' | 'unpublish' | 'expand' | 'stats';
/** What a call of the driver does: nothing, fail for good, leave it open whether it was done, or not answer until it is ended. */
export type DriverAnswer = 'done' | 'refused' | 'uncertain' | 'hangs' | 'infeasible' | 'in use';

/** A driver in memory that answers by a table, and notes what it was asked. */
export class FakeDriver implements VolumeDriver {
  readonly calls: string[] = [];
  readonly requests: PublishRequest[] = [];
  readonly staged: StageRequest[] = [];
  readonly expanded: ExpandRequest[] = [];
  /** What happens meanwhile. */
  onExpand: (() => void) | undefined;
  usage: VolumeStats = { bytes: undefined, inodes: undefined, isAbnormal: undefined };
  /** Answers to the next calls, the earliest first; after these all is done. */
  readonly answers = new Map<DriverCall, DriverAnswer[]>();
  readonly can = new Set<DriverAbility>(['stage']);

  abilities = async () => this.can;

  async stage(request: StageRequest, signal: AbortSignal): Promise<void> {
    this.staged.push(request);
    await this.#answer('stage', request.volumeId, signal);
  }

  async unstage(volumeId: string, _path: string, signal: AbortSignal): Promise<void> {
    await this.#answer('unstage', volumeId, signal);
  }

  async publish(request: PublishRequest, signal: AbortSignal): Promise<void> {
    this.requests.push(request);
    await this.#answer('publish', request.volumeId, signal);
    if (request.capability.mount !== undefined) await mkdir(request.targetPath, { recursive: true });
    else await writeFile(request.targetPath, '');
  }

  async unpublish(volumeId: string, path: string, signal: AbortSignal): Promise<void> {
    const [, uid] = /\/pods\/([^/]+)\//.exec(path) ?? [];
    await this.#answer('unpublish', uid === undefined ? volumeId : `${volumeId} ${uid}`, signal);
    await rm(path, { recursive: true, force: true });
  }

  async expand(request: ExpandRequest, signal: AbortSignal): Promise<void> {
    this.expanded.push(request);
    this.onExpand?.();
    await this.#answer('expand', `${request.volumeId} ${request.sizeBytes}`, signal);
  }

  async stats({ volumeId }: { readonly volumeId: string }, signal: AbortSignal): Promise<VolumeStats> {
    await this.#answer('stats', volumeId, signal);
    return this.usage;
  }

  async #answer(call: DriverCall, what: string, signal: AbortSignal): Promise<void> {
    this.calls.push(`${call} ${what}`);
    const answer = this.answers.get(call)?.shift() ?? 'done';
    if (answer === 'refused') throw new DriverError('rpc error: code = Internal desc = no', true);
    if (answer === 'infeasible') throw new DriverError('too large', true, { code: 'OutOfRange' });
    if (answer === 'in use') throw new DriverError('in use', true, { code: 'FailedPrecondition' });
    if (answer === 'uncertain')
      throw new DriverError('rpc error: code = Unavailable desc = Connection dropped', false);
    if (answer === 'hangs') {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      throw new DriverError('rpc error: code = Canceled desc = Call cancelled', false);
    }
  }
}

/** Drivers that come and go. */
export class FakeDrivers implements VolumeDrivers {
  readonly #byName = new Map<string, FakeDriver>();
  readonly #listeners = new Set<() => void>();

  driver = (name: string) => this.#byName.get(name);

  register(name: string, driver = new FakeDriver()): FakeDriver {
    this.#byName.set(name, driver);
    for (const listener of [...this.#listeners]) listener();
    return driver;
  }

  deregister(name: string): void {
    this.#byName.delete(name);
    for (const listener of [...this.#listeners]) listener();
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}
