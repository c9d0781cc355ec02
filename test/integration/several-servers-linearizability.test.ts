// lane: exclusive (what takes longer overlaps more, and the proof grows with that)
/** Clients of three servers on three members of etcd are answered as by one copy, while both kinds are killed and cut off. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { waitFor } from '../support/index.ts';
import type { RegisterDeed, RegisterInput, RegisterOutput } from '../support/linearizability/index.ts';
import {
  assertLinearizable,
  HistoryRecorder,
  RegisterClient,
  registerDeeds,
  registerModel,
  versionFault,
  versionTold,
} from '../support/linearizability/index.ts';
import { repetitions, seededRandom } from '../support/repetition.ts';
import { ensureBuilt } from './installation.ts';
import { startEtcd } from './lab/index.ts';
import { ConfigMapRegisters } from './nodeward/index.ts';
import { followChanges } from './several-servers/change-log.ts';
import { troubled } from './several-servers/chaos.ts';
import { startMembers } from './several-servers/servers.ts';

const clients = 6;
/** Ten minutes and more for a long run. */
const troubleMs = repetitions('NODEWARD_TROUBLE_MS', 25_000);
const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
const deeds: readonly (RegisterDeed | 'readAll')[] = [...registerDeeds, 'update', 'update', 'readAll'];

before(ensureBuilt);

test(`${clients} clients of ${keys.length} objects through any of three servers see one copy of each`, {
  timeout: 300_000,
}, async (t) => {
  const random = seededRandom(t);
  await using etcd = await startEtcd({ members: 3 });
  await using members = await startMembers(3, ['--storage', 'etcd', '--etcd-servers', etcd.urls.join()]);
  await using held = new AsyncDisposableStack();
  const apis = members.all.map((member) =>
    held.use(member.client({ connections: 2 * clients, timeoutMs: 30_000 })),
  );
  const any = (): ApiClient => oneOf(apis, random);
  const stop = new AbortController();
  using _stopped = { [Symbol.dispose]: () => stop.abort() };
  const { metadata } = await any().list(configMapKind, { namespace: 'default' });
  const from = Number(metadata?.resourceVersion);
  const logs = apis.map((first) => {
    let isFirst = true;
    const next = () => {
      const api = isFirst ? first : any();
      isFirst = false;
      return api;
    };
    return followChanges(next, from, stop.signal);
  });

  const recorder = new HistoryRecorder<RegisterInput, RegisterOutput>();
  const enough = new AbortController();
  const users = Array.from({ length: clients }, async (_, index) => {
    const user = { now: new ConfigMapRegisters(any()) };
    const client = new RegisterClient(index, currentOf(user), recorder);
    while (!enough.signal.aborted) {
      const registers = new ConfigMapRegisters(any());
      user.now = registers;
      const deed = oneOf(deeds, random);
      if (deed === 'readAll') await client.readAll(keys, () => registers.readAll(keys));
      else await client.act(deed, oneOf(keys, random));
      await sleep(5 + 10 * random()); // the proof is to stay short
    }
  });
  const done = await troubled(members, etcd, random, AbortSignal.timeout(troubleMs));
  t.diagnostic(done.join(', '));
  enough.abort();
  await Promise.all(users);

  for (const [index, api] of apis.entries()) {
    const registers = new ConfigMapRegisters(api);
    const reader = new RegisterClient(clients + index, registers, recorder);
    for (const key of keys) await reader.read(key);
    await reader.readAll(keys, () => registers.readAll(keys));
  }
  const last = await waitFor(
    'a last write',
    () => any().create(configMapKind, { metadata: { generateName: 'last-', namespace: 'default' } }),
    { timeoutMs: 30_000, intervalMs: 200 },
  );
  const end = Number(last.metadata?.resourceVersion);
  await waitFor(
    'all watchers to come to the end',
    () => logs.every(({ versions }) => versions.includes(end)),
    {
      timeoutMs: 30_000,
    },
  );
  stop.abort();
  await Promise.all(logs.map(({ ended }) => ended));

  const { operations } = recorder;
  const answered = operations.filter(({ output }) => output !== undefined).length;
  const moves = logs.map((log) => log.moves);
  t.diagnostic(
    `${answered} of ${operations.length} operations answered; watchers moved ${moves.join(', ')} times`,
  );
  assert.ok(answered > 500, 'the clients got somewhere');
  assertLinearizable(registerModel, operations);
  assert.equal(versionFault(operations, versionTold), undefined);

  const upTo = (log: (typeof logs)[number]) => log.lines.slice(0, log.versions.indexOf(end) + 1);
  const [one, ...others] = logs;
  assert.ok(one);
  for (const other of others) assert.deepEqual(upTo(other), upTo(one), 'all watchers were told the same');
  assert.deepEqual(
    logs.map(({ expiries }) => expiries),
    logs.map(() => 0),
    'history reached back to everybody',
  );
  const told = new Set(upTo(one).map((line) => line.split(' ').slice(1).join(' ')));
  for (const { input, output } of operations) {
    if (input.op !== 'write' || input.value === null || output === undefined || !('version' in output))
      continue;
    assert.ok(
      told.has(`${input.key} ${output.version} ${input.value}`),
      `${JSON.stringify({ input, output })} was told`,
    );
  }
});

/** The registers of the moment, so that one client goes from server to server. */
function currentOf(user: { readonly now: ConfigMapRegisters }) {
  return {
    read: (key: string) => user.now.read(key),
    write: (key: string, expect: number | 'any', value: string | null) => user.now.write(key, expect, value),
  };
}

function oneOf<T>(all: readonly T[], random: () => number): T {
  const found = all[Math.floor(random() * all.length)];
  if (found === undefined) throw new RangeError('nothing to choose from');
  return found;
}
