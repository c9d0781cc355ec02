import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../../../../src/api/index.ts';
import type { Transition } from '../../../../../src/apiserver/controllers/index.ts';
import { maxTransitions, parseHistory } from '../../../../../src/apiserver/controllers/index.ts';
import {
  findTransitions,
  historyNameOf,
  lastOfEach,
  toData,
  trimHistory,
} from '../../../../../src/apiserver/controllers/node-history/record.ts';
import { waitFor } from '../../../../support/index.ts';
import { startServer } from '../../support/index.ts';

const noon = Date.UTC(2026, 0, 2, 12);
const at = (minute: number) => new Date(noon + minute * 60_000).toISOString().replace('.000Z', 'Z');
const transition = (minute: number, to: string, more: Partial<Transition> = {}): Transition => ({
  ...{ time: at(minute), condition: 'Ready', from: '', to, reason: 'Why', message: '' },
  ...more,
});
const node = (status: string, reason: string, minute: number): Node => ({
  status: { conditions: [{ type: 'Ready', status, reason, lastTransitionTime: at(minute) }] },
});

describe('why was the node NotReady', () => {
  test('a change of status or of reason is one, a new message is none', () => {
    const known = lastOfEach([transition(0, 'True')]);
    assert.deepEqual(findTransitions(known, node('True', 'Why', 1), noon), []);
    const [lost] = findTransitions(known, node('Unknown', 'NodeStatusUnknown', 5), noon);
    assert.deepEqual(lost, transition(5, 'Unknown', { from: 'True', reason: 'NodeStatusUnknown' }));
    const [other] = findTransitions(known, node('True', 'Else', 0), noon + 60_000);
    assert.deepEqual([other?.time, other?.from, other?.reason], [at(1), 'True', 'Else']);
  });

  test('a history is bounded by number and age, and keeps the last of each condition', () => {
    const disk = transition(-100 * 24 * 60, 'False', { condition: 'DiskPressure' });
    const old = transition(-99 * 24 * 60, 'True');
    const many = Array.from({ length: maxTransitions + 5 }, (_, index) => transition(index, `${index}`));
    const kept = trimHistory([disk, old, ...many], noon);
    assert.equal(kept.length, maxTransitions + 1);
    assert.deepEqual([kept[0], kept[1]?.to], [disk, '5']);
    assert.deepEqual(trimHistory([disk, old, transition(0, 'False')], noon), [disk, transition(0, 'False')]);
    assert.deepEqual(parseHistory({ data: toData(kept) }), kept);
    assert.deepEqual(parseHistory({ data: { transitions: 'x\n{"time":1}\n' } }), []);
  });

  test('its texts are bounded, which the node chooses, and so is its name', () => {
    const long = 'x'.repeat(100_000);
    const conditions = Array.from({ length: 30 }, (_, index) => ({
      ...{ type: `${index}${long}`, status: long, reason: long, message: long, lastTransitionTime: long },
    }));
    const found = findTransitions(new Map(), { status: { conditions } }, noon);
    assert.equal(found.length, 20);
    assert.ok((toData(found)['transitions'] ?? '').length < 20 * 2048);
    const names = ['a', 'b'].map((end) => historyNameOf('n'.repeat(252) + end));
    assert.deepEqual([names[0]?.length, names[0] === names[1]], [253, false]);
    assert.equal(historyNameOf('web'), 'node-history-web');
  });

  test('the control plane keeps it in an object of the node, which goes with it', async () => {
    await using server = await startServer();
    const { admin } = server;
    const nodes = '/api/v1/nodes';
    const path = '/api/v1/namespaces/kube-system/configmaps/node-history-a';
    await admin.must('POST', nodes, { metadata: { name: 'a' } });
    const say = async (status: string, reason: string) => {
      const body = {
        status: {
          conditions: [{ type: 'Ready', status, reason, lastTransitionTime: new Date().toISOString() }],
        },
      };
      const headers = { 'content-type': 'application/strategic-merge-patch+json' };
      const reply = await admin.request('PATCH', `${nodes}/a/status`, { body, headers });
      assert.equal(reply.code, 200, reply.text);
    };
    const read = async (): Promise<string[]> => {
      const reply = await admin.request('GET', path);
      if (reply.code !== 200) return [];
      return parseHistory(JSON.parse(reply.text)).map(({ from, to, reason }) => `${from}>${to} ${reason}`);
    };
    await say('False', 'KubeletNotReady');
    await waitFor('the first state to be seen', async () => {
      await say('True', 'KubeletReady');
      await say('False', 'KubeletNotReady');
      return (await read()).length >= 2;
    });
    await say('True', 'Mended');
    const history = await waitFor('the last change', async () => {
      const found = await read();
      return found.at(-1) === 'False>True Mended' || found.at(-1) === 'True>True Mended' ? found : undefined;
    });
    assert.match(history[0] ?? '', /^>/, 'the first one begins it');
    await admin.must('DELETE', `${nodes}/a`);
    await waitFor('its end', async () => (await admin.request('GET', path)).code === 404);
  });
});
