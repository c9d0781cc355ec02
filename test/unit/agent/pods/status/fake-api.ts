import type { StatusWriterOptions } from '../../../../../src/agent/pods/status/index.ts';
import { StatusWriter, statusMetrics } from '../../../../../src/agent/pods/status/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { applyStrategicPatch, podKind, StatusError } from '../../../../../src/api/index.ts';
import { createMetrics } from '../../../../../src/base/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { memoryLog } from '../support.ts';

export const nameOf = (name: string, uid = `uid-${name}`) => ({ namespace: 'default', name, uid });

/** A writer of statuses, an API that applies what it is sent, and a watch that the test lets fall behind. */
export function writerWorld(names: readonly string[]) {
  const clock = createManualClock();
  const { log, lines } = memoryLog();
  const registry = createMetrics();
  const onApi = new Map<string, Pod>();
  let watched = new Map<string, Pod>();
  const asked: string[] = [];
  const sent: Record<string, unknown>[] = [];
  const listeners = new Set<() => void>();
  const state = {
    /** What a call does before it has its effect; throws to refuse it. */
    before: async (_what: string): Promise<void> => undefined,
    /** And after. */
    after: async (_what: string): Promise<void> => undefined,
    isWatchBehind: false,
    version: 100,
    atOnce: 0,
    maxAtOnce: 0,
  };

  function show(): void {
    if (state.isWatchBehind) return;
    watched = new Map(onApi);
    for (const listener of listeners) listener();
  }

  function put(name: string, change: (pod: Pod) => Pod = (pod) => pod, uid = `uid-${name}`): Pod {
    state.version += 1;
    const old = onApi.get(name) ?? {
      metadata: { ...nameOf(name, uid) },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'c:1' }] },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    };
    const changed = change(old);
    const pod = { ...changed, metadata: { ...changed.metadata, resourceVersion: String(state.version) } };
    onApi.set(name, pod);
    show();
    return pod;
  }

  async function call<T>(what: string, act: () => T): Promise<T> {
    asked.push(what);
    state.atOnce += 1;
    state.maxAtOnce = Math.max(state.maxAtOnce, state.atOnce);
    try {
      await state.before(what);
      const result = act();
      await state.after(what);
      return result;
    } finally {
      state.atOnce -= 1;
    }
  }

  function find(name: string, uid: unknown, otherUid: StatusError): Pod {
    const pod = onApi.get(name);
    if (pod === undefined) throw refusal('NotFound');
    if (pod.metadata?.uid !== uid) throw otherUid;
    return pod;
  }

  const api = {
    patch: (_kind: unknown, name: string, change: { metadata: { uid?: string } }) =>
      call(`patch ${name}`, () => {
        const pod = find(name, change.metadata.uid, refusal('Invalid', 'metadata.uid'));
        const patched = applyStrategicPatch(podKind.root, pod, change) as Pod;
        sent.push({ name, ...change });
        return JSON.stringify(patched) === JSON.stringify(pod) ? pod : put(name, () => patched);
      }),
    delete: (_kind: unknown, name: string, { uid }: { uid?: string }) =>
      call(`delete ${name}`, () => {
        find(name, uid, refusal('Conflict'));
        onApi.delete(name);
        show();
      }),
  };

  const writer = new StatusWriter({
    api: api as unknown as StatusWriterOptions['api'], // the fake has what the writer calls
    watched: ({ name }) => watched.get(name),
    onWatched(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    metrics: statusMetrics(registry),
    random: () => 0,
    ...{ log, clock },
  });
  for (const name of names) put(name);
  return {
    ...{ writer, clock, lines, registry, onApi, asked, sent, state, put, show },
    statusOf: (name: string) => onApi.get(name)?.status,
    async running(work: () => Promise<void>): Promise<void> {
      const stop = new AbortController();
      const service = writer.run(stop.signal, () => undefined);
      await clock.advance(0);
      await work();
      stop.abort();
      await clock.advance(1000);
      await service;
    },
  };
}

export function refusal(reason: 'NotFound' | 'Conflict' | 'Invalid', ...fields: string[]): StatusError {
  const causes = fields.map((field) => ({ reason: 'FieldValueInvalid' as const, field, message: 'no' }));
  return new StatusError(reason, `refused: ${reason}`, { details: { causes } });
}
