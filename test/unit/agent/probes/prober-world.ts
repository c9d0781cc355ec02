import type { ContainerProbes, ProbeTarget } from '../../../../src/agent/probes/index.ts';
import { ProbeCommands, ProbeMetrics, Prober } from '../../../../src/agent/probes/index.ts';
import type { Container, ProbeKind } from '../../../../src/agent/probes/types.ts';
import { probeKinds } from '../../../../src/agent/probes/types.ts';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** What a command in a container does. */
export type Answer = 'ok' | 'fails' | 'absent' | 'hangs';

export interface Probed {
  readonly atMs: number;
  readonly id: string;
  readonly kind: ProbeKind;
}

/** Commands that name what they probe, so that a test sees what is run. */
export const commandOf = (kind: ProbeKind) => ({ exec: { command: [kind] } });

/** A prober on a clock of the test; each probe is a command, whose first word is its kind. */
export class ProberWorld implements AsyncDisposable {
  readonly clock: ManualClock = createManualClock();
  readonly events: string[] = [];
  readonly changed: string[] = [];
  readonly probed: Probed[] = [];
  readonly frozen = new Set<string>();
  readonly metrics = new ProbeMetrics();
  answer: (kind: ProbeKind, id: string) => Answer = () => 'ok';
  readonly #end = new AbortController();
  readonly #begins = new Set<(id: string) => void>();
  readonly prober: Prober;
  readonly #done: Promise<void> | void;

  constructor() {
    this.prober = new Prober({
      calls: { execSync: (id, command, _seconds, cancel) => this.#exec(id, kindOf(command), cancel) },
      commands: new ProbeCommands(this.clock, () => 1000),
      frozen: {
        has: (id) => this.frozen.has(id),
        onBegin: (listener) => {
          this.#begins.add(listener);
          return { [Symbol.dispose]: () => void this.#begins.delete(listener) };
        },
      },
      metrics: this.metrics,
      report: (_pod, { reason, message }, container) =>
        void this.events.push(`${container} ${reason}: ${message}`),
      clock: this.clock,
      log: silentLogger(),
    });
    this.prober.onChange((uid) => void this.changed.push(uid));
    this.#done = this.prober.run(this.#end.signal, () => undefined);
  }

  freeze(id: string): void {
    this.frozen.add(id);
    for (const begin of this.#begins) begin(id);
  }

  /** Of the container, in the order of the tries. */
  timesOf(kind: ProbeKind, id = 'c1'): number[] {
    return this.probed.filter((each) => each.kind === kind && each.id === id).map(({ atMs }) => atMs - 1000);
  }

  follow(
    spec: Omit<Container, 'name'>,
    { id = 'c1', uid = 'p1', isEnding = false, known }: FollowOptions = {},
  ): ContainerProbes | undefined {
    const metadata = { uid, name: uid, namespace: 'default' };
    const owner = { pod: { metadata }, host: '10.0.0.1', isEnding };
    const target = { id, spec: { name: 'main', ...spec }, startedMs: this.clock.now(), known };
    return this.prober.follow(owner, id === '' ? [] : [target]).get('main');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #exec(id: string, kind: ProbeKind, cancel: AbortSignal | undefined) {
    this.probed.push({ atMs: this.clock.monotonicMs(), id, kind });
    const answer = this.answer(kind, id);
    if (answer === 'absent') throw new RuntimeError('failed', 'no such command');
    if (answer === 'hangs')
      await new Promise<never>((_resolve, reject) => {
        cancel?.addEventListener('abort', () => reject(new RuntimeError('cancelled', 'given up')));
      });
    return {
      exitCode: answer === 'ok' ? 0 : 1,
      stdout: Buffer.from(`${kind} says no`),
      stderr: Buffer.alloc(0),
    };
  }
}

function kindOf([kind]: readonly string[]): ProbeKind {
  const known = probeKinds.find((each) => each === kind);
  if (known === undefined) throw new Error(`${kind} is no kind of probe`);
  return known;
}

export interface FollowOptions {
  /** Empty: nothing of the pod runs. */
  readonly id?: string;
  readonly uid?: string;
  readonly isEnding?: boolean;
  readonly known?: ProbeTarget['known'];
}
