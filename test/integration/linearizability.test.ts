/** Clients of the real server that use the same objects at once, over kills, are answered as by one copy of each. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import { freePort, temporaryFolder, waitFor } from '../support/index.ts';
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
import type { Random } from '../support/repetition.ts';
import { repetitions, seededRandom } from '../support/repetition.ts';
import { ensureBuilt } from './installation.ts';
import { ConfigMapRegisters, startApiServer } from './nodeward/index.ts';

/** 60 for a long run. */
const kills = repetitions('NODEWARD_TEST_KILLS', 6);
const requestsPerLife = 300;
const clients = 8;
const keys = ['a', 'b', 'c', 'd', 'e'];
const deeds: readonly (RegisterDeed | 'readAll')[] = [...registerDeeds, 'update', 'update', 'readAll'];

before(ensureBuilt);

test(`${clients} clients of ${keys.length} objects, over ${kills} kills, see one copy of each`, async (t) => {
  const random = seededRandom(t);
  await using home = await temporaryFolder('linearizability-');
  const port = await freePort();
  const recorder = new HistoryRecorder<RegisterInput, RegisterOutput>();
  for (let life = 0; life < kills; life += 1) {
    await using server = await startApiServer(join(home.path, 'root'), { port });
    await using api = await connect(server.kubeconfig);
    const registers = new ConfigMapRegisters(api);
    const users = Array.from({ length: clients }, (_, index) => {
      return new RegisterClient(life * clients + index, registers, recorder);
    });
    let requests = 0;
    const using = users.map(async (user) => {
      for (; !registers.gone.aborted; requests += 1) await actAtRandom(user, registers, random);
    });
    await waitFor('enough requests', () => requests >= requestsPerLife, { intervalMs: 1, timeoutMs: 60_000 });
    await server.process.kill9();
    await Promise.all(using);
  }
  await readAtTheEnd(join(home.path, 'root'), port, recorder);

  const { operations } = recorder;
  const unanswered = operations.filter(({ output, input }) => output === undefined && input.op === 'write');
  assert.ok(operations.length > kills * requestsPerLife, `${operations.length} operations`);
  assert.ok(unanswered.length > 0, 'some writes were cut off');
  assertLinearizable(registerModel, operations);
  assert.equal(versionFault(operations, versionTold), undefined);
});

async function readAtTheEnd(
  rootDir: string,
  port: number,
  recorder: HistoryRecorder<RegisterInput, RegisterOutput>,
): Promise<void> {
  await using server = await startApiServer(rootDir, { port });
  await using api = await connect(server.kubeconfig);
  const registers = new ConfigMapRegisters(api);
  const reader = new RegisterClient(kills * clients, registers, recorder);
  for (const key of keys) await reader.read(key);
  await reader.readAll(keys, () => registers.readAll(keys));
}

async function connect(kubeconfig: string): Promise<ApiClient> {
  return new ApiClient({ ...clientOptionsOf(await readKubeconfig(kubeconfig)), connections: clients });
}

async function actAtRandom(
  user: RegisterClient,
  registers: ConfigMapRegisters,
  random: Random,
): Promise<void> {
  const deed = oneOf(deeds, random);
  if (deed === 'readAll') await user.readAll(keys, () => registers.readAll(keys));
  else await user.act(deed, oneOf(keys, random));
}

function oneOf<T>(all: readonly T[], random: Random): T {
  const found = all[Math.floor(random() * all.length)];
  if (found === undefined) throw new RangeError('nothing to choose from');
  return found;
}
