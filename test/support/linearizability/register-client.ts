import type { Answer, HistoryRecorder } from './history.ts';
import type { Held, RegisterInput, RegisterOutput } from './register.ts';

/** The registers under test, however they are reached. */
export interface Registers {
  read(key: string): Promise<Answer<RegisterOutput>>;
  write(key: string, expect: number | 'any', value: string | null): Promise<Answer<RegisterOutput>>;
}

/** `overtaken`: a write on condition of a version that the client knows to be old. */
export const registerDeeds = ['read', 'update', 'remove', 'create', 'overtaken'] as const;
export type RegisterDeed = (typeof registerDeeds)[number];

/** One of several clients: does one thing after the other, from what it was answered before. */
export class RegisterClient {
  readonly #id: number;
  readonly #registers: Registers;
  readonly #recorder: HistoryRecorder<RegisterInput, RegisterOutput>;
  readonly #known = new Map<string, Held>();
  readonly #old = new Map<string, Held>();
  #writes = 0;

  constructor(id: number, registers: Registers, recorder: HistoryRecorder<RegisterInput, RegisterOutput>) {
    this.#id = id;
    this.#registers = registers;
    this.#recorder = recorder;
  }

  async act(deed: RegisterDeed, key: string): Promise<void> {
    const known = this.#known.get(key);
    if (deed === 'read') await this.read(key);
    else if (deed === 'overtaken') await this.#write(key, this.#old.get(key)?.version ?? 0, this.#value());
    else if (deed === 'remove' && known !== undefined) await this.#write(key, known.version, null);
    else if (deed === 'update' && known !== undefined) await this.#write(key, known.version, this.#value());
    else await this.#write(key, 0, this.#value());
  }

  async read(key: string): Promise<void> {
    const input = { key, op: 'read' } as const;
    const output = await this.#recorder.record(this.#id, input, () => this.#registers.read(key));
    this.#learn(key, output !== undefined && 'saw' in output ? output.saw : undefined);
  }

  /** Reads all keys by one request. */
  async readAll(keys: readonly string[], perform: () => Promise<Answer<readonly RegisterOutput[]>>) {
    const inputs = keys.map((key) => ({ key, op: 'read' }) as const);
    const outputs = await this.#recorder.recordAtOnce(this.#id, inputs, perform);
    for (const [index, key] of keys.entries()) {
      const output = outputs[index];
      this.#learn(key, output !== undefined && 'saw' in output ? output.saw : undefined);
    }
  }

  async #write(key: string, expect: number, value: string | null): Promise<void> {
    const input = { key, op: 'write', expect, value } as const;
    const perform = () => this.#registers.write(key, expect, value);
    const output = await this.#recorder.record(this.#id, input, perform);
    if (output === undefined) this.#learn(key, undefined);
    else if ('refusedFor' in output) this.#learn(key, output.refusedFor);
    else if ('version' in output && value !== null && output.version !== undefined)
      this.#learn(key, { value, version: output.version });
    else this.#learn(key, undefined);
  }

  #learn(key: string, seen: Held | string | undefined): void {
    const before = this.#known.get(key);
    if (before !== undefined) this.#old.set(key, before);
    if (typeof seen === 'object') this.#known.set(key, seen);
    else this.#known.delete(key);
  }

  #value(): string {
    return `${this.#id}-${this.#writes++}`;
  }
}
