import type { ExecutorOptions } from '../../../../../src/agent/pods/worker/index.ts';
import { NodeExecutor, PodRecords } from '../../../../../src/agent/pods/worker/index.ts';
import type { PodCalls } from '../../../../../src/agent/runtime/index.ts';

/** Told of each thing that an agent does, just before and just after; returns whether the agent is killed there. */
export type KilledAt = (step: string) => boolean;

/** The life of one agent, which can be killed: nothing that it does afterwards reaches anybody, and nothing returns. */
export class AgentLife {
  readonly #killedAt: KilledAt;
  readonly #onKilled: () => void;
  #isOver = false;

  constructor(killedAt: KilledAt, onKilled: () => void) {
    this.#killedAt = killedAt;
    this.#onKilled = onKilled;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onKilled();
  }

  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    await this.#pass(`before ${name}`);
    const [result] = await Promise.allSettled([work()]);
    await this.#pass(`after ${name}`);
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }

  async #pass(point: string): Promise<void> {
    if (!this.#isOver && this.#killedAt(point)) this.end();
    if (this.#isOver) await new Promise<never>(() => undefined);
  }
}

/** The runtime as that agent reaches it. Looking is no step: it changes nothing. */
export function mortalCalls(calls: PodCalls, life: AgentLife): PodCalls {
  const step = <T>(name: string, work: () => Promise<T>) => life.step(name, work);
  return {
    ...calls,
    runSandbox: (...given) => step('runSandbox', () => calls.runSandbox(...given)),
    stopSandbox: (...given) => step('stopSandbox', () => calls.stopSandbox(...given)),
    removeSandbox: (...given) => step('removeSandbox', () => calls.removeSandbox(...given)),
    createContainer: (...given) => step('createContainer', () => calls.createContainer(...given)),
    startContainer: (...given) => step('startContainer', () => calls.startContainer(...given)),
    stopContainer: (...given) => step('stopContainer', () => calls.stopContainer(...given)),
    removeContainer: (...given) => step('removeContainer', () => calls.removeContainer(...given)),
    execSync: (...given) => step('execSync', () => calls.execSync(...given)),
  };
}

/** Records that a killed agent writes no more. */
export class MortalRecords extends PodRecords {
  readonly #life: AgentLife;
  /** Writes that are being carried out. */
  readonly #writes = new Set<Promise<void>>();

  constructor(options: ConstructorParameters<typeof PodRecords>[0], life: AgentLife) {
    super(options);
    this.#life = life;
  }

  override async write(...given: Parameters<PodRecords['write']>): Promise<void> {
    await this.#life.step('write', () => this.#follow(super.write(...given)));
  }

  override async remove(uid: string): Promise<void> {
    await this.#life.step('remove record', () => this.#follow(super.remove(uid)));
  }

  /** Resolves when the disk has what was written before the kill. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }

  async #follow(writing: Promise<void>): Promise<void> {
    this.#writes.add(writing);
    await writing.finally(() => this.#writes.delete(writing));
  }
}

/** What it does to the disk for a whole pod is a step, too. */
export class MortalExecutor extends NodeExecutor {
  readonly #life: AgentLife;

  constructor(options: ExecutorOptions, life: AgentLife) {
    super(options);
    this.#life = life;
  }

  override async prepare(...given: Parameters<NodeExecutor['prepare']>): Promise<void> {
    await this.#life.step('prepare', () => super.prepare(...given));
  }

  override async release(...given: Parameters<NodeExecutor['release']>): Promise<void> {
    await this.#life.step('release', () => super.release(...given));
  }

  override async forget(...given: Parameters<NodeExecutor['forget']>): Promise<void> {
    await this.#life.step('forget', () => super.forget(...given));
  }
}
