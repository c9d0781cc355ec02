/** Pods get their nodes once, whatever becomes of the writes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRecord } from '../../../../src/api/index.ts';
import type { StorageFault, TestApiServer } from '../../../../src/testing/index.ts';
import { startApiServer } from '../../../../src/testing/index.ts';
import { fastClock } from '../../../support/fast-clock.ts';
import { waitFor } from '../../../support/index.ts';
import { named } from '../support/index.ts';

const pods = '/api/v1/namespaces/default/pods';
const names = Array.from({ length: 40 }, (_, index) => `pod-${index}`);
const ofPods: StorageFault['match'] = ({ resource }) => resource === 'pods';

/** Forty pods that wait for a node, on a server whose pauses are short. */
async function prepare() {
  const lines: string[] = [];
  const server = await startApiServer({ clock: fastClock(20), log: (line) => lines.push(line) });
  const { request } = await server.client();
  for (const name of names) {
    const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1' } } }];
    await request('POST', pods, { ...named(name), spec: { containers } });
  }
  await waitFor('all to be reported', async () => {
    const { body } = await request('GET', pods);
    return JSON.stringify(body).match(/no nodes available/g)?.length === names.length;
  });
  return {
    server,
    lines,
    /** With room for all of them and no more. */
    addNode: async () => {
      const status = {
        allocatable: { cpu: String(names.length), memory: '9Gi', pods: '99' },
        conditions: [{ type: 'Ready', status: 'True' }],
      };
      const { code } = await request('POST', '/api/v1/nodes', { ...named('host'), status });
      assert.equal(code, 201);
    },
    nodesOf: async () => await nodesOf(server),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function nodesOf(server: TestApiServer): Promise<(string | undefined)[]> {
  const { request } = await server.client();
  const { body } = await request('GET', pods);
  const items = isRecord(body) && Array.isArray(body['items']) ? body['items'] : [];
  return items.map((pod: unknown) => {
    const spec = isRecord(pod) && isRecord(pod['spec']) ? pod['spec'] : {};
    return typeof spec['nodeName'] === 'string' ? spec['nodeName'] : undefined;
  });
}

const areAll = (nodes: readonly (string | undefined)[]) =>
  nodes.length === names.length && nodes.every((node) => node === 'host');

describe('while the disk of the store is full', () => {
  test('pods wait, with one line of the log for all of them, and get their nodes when there is room', async () => {
    await using lab = await prepare();
    const fault = lab.server.faults.failStorage({ how: 'full', match: ofPods });
    await lab.addNode();
    await waitFor('every binding to be tried twice', () => fault.hits >= 2 * names.length);
    assert.deepEqual(new Set(await lab.nodesOf()), new Set([undefined]));
    fault.clear();
    await waitFor('all nodes', async () => areAll(await lab.nodesOf()));
    const warnings = lab.lines.filter(
      (line) => /"level":(40|"warn")/.test(line) && /schedul|bound/.test(line),
    );
    assert.equal(warnings.length, 1, warnings.join(''));
    assert.match(warnings[0] ?? '', /the scheduler cannot write, and tries again/);
    await waitFor('its end', () => lab.lines.some((line) => /the scheduler can write again/.test(line)));
  });
});

describe('a binding whose outcome is unknown', () => {
  for (const written of [true, false])
    test(
      written ? 'and that was written is not made again' : 'and that was not written is made again',
      async () => {
        await using lab = await prepare();
        const fault = lab.server.faults.failStorage({
          how: 'unknown',
          written,
          times: names.length,
          match: ofPods,
        });
        await lab.addNode();
        await waitFor('all nodes', async () => areAll(await lab.nodesOf()));
        assert.equal(fault.hits, names.length);
        assert.doesNotMatch(lab.lines.join(''), /Conflict|is already assigned/);
      },
    );
});
