import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ProbeCommands } from '../../../../src/agent/probes/commands.ts';
import type { ProbeTools } from '../../../../src/agent/probes/run-probe.ts';
import { runProbe } from '../../../../src/agent/probes/run-probe.ts';
import type { ProbeOutcome } from '../../../../src/agent/probes/types.ts';
import { noReason } from '../../../../src/base/index.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const never = new AbortController().signal;
const success: ProbeOutcome = { result: 'success' };
const day = 86_400;
const nobody = new Uint8Array();

/** Commands of a node that starts two at once. Containers whose names begin with `slow` sleep as long as they may. */
class Node {
  readonly clock: ManualClock = createManualClock();
  readonly started: string[] = [];
  readonly #commands = new ProbeCommands(this.clock, () => 2);
  readonly #ends = new Map<string, () => void>();

  probe(containerId: string, uid = containerId, timeoutSeconds = day, signal = never): Promise<ProbeOutcome> {
    const place = { containerId, host: undefined, container: {} };
    const tools: ProbeTools = {
      calls: { execSync: (id) => this.#execute(id) },
      clock: this.clock,
      commands: this.#commands.ofPod(uid),
    };
    return runProbe({ exec: { command: ['a'] }, timeoutSeconds }, place, tools, signal);
  }

  /** Starts the probes of so many containers that sleep, each of a pod of its own or all of one. */
  sleepers(count: number, uidOf: (name: string) => string = (name) => name): Promise<ProbeOutcome>[] {
    const names = Array.from({ length: count }, (_, index) => `slow${index}`);
    return names.map((name) => this.probe(name, uidOf(name)));
  }

  end(containerId: string): void {
    this.#ends.get(containerId)?.();
  }

  async #execute(id: string) {
    this.started.push(id);
    if (id.startsWith('slow')) await new Promise<void>((resolve) => void this.#ends.set(id, resolve));
    return { exitCode: 0, stdout: nobody, stderr: nobody };
  }
}

describe('commands of probes', () => {
  test('that sleep for a day hold others up for two seconds only', async () => {
    const node = new Node();
    const slow = node.sleepers(4);
    const other = node.probe('quick', 'quick', 1);
    await node.clock.advance(1900);
    assert.deepEqual(node.started, ['slow0', 'slow1']);
    await node.clock.advance(200);
    assert.deepEqual(node.started, ['slow0', 'slow1', 'slow2', 'slow3']);
    await node.clock.advance(2000);
    assert.deepEqual(await other, success);
    for (const index of slow.keys()) node.end(`slow${index}`);
    assert.deepEqual(await Promise.all(slow), [success, success, success, success]);
  });

  test('that have ended let the next start at once', async () => {
    const node = new Node();
    const slow = node.sleepers(3);
    await node.clock.advance(0);
    node.end('slow0');
    await node.clock.advance(0);
    assert.deepEqual(node.started, ['slow0', 'slow1', 'slow2']);
    node.end('slow1');
    node.end('slow2');
    await Promise.all(slow);
    assert.equal(node.clock.sleepers, 0);
  });

  test('are so many of a pod at most: the next cannot be run, is not tried again, and others can', async () => {
    const node = new Node();
    const slow = node.sleepers(16, () => 'greedy');
    await node.clock.advance(16_000);
    const outcome = await node.probe('next', 'greedy');
    assert.match('why' in outcome ? outcome.why : '', /^16 commands of probes of this pod are under way/);
    assert.deepEqual(await node.probe('other'), success);
    assert.equal(node.started.includes('next'), false);
    node.end('slow3');
    await slow[3];
    assert.deepEqual(await node.probe('next', 'greedy'), success);
  });

  test('are so many of the node at most', async () => {
    const node = new Node();
    const slow = node.sleepers(64);
    await node.clock.advance(64_000);
    assert.equal(node.started.length, 64);
    for (let tried = 0; tried < 3; tried += 1) {
      const outcome = await node.probe('next');
      assert.match('why' in outcome ? outcome.why : '', /^64 commands of probes of this node are under way/);
    }
    node.end('slow63');
    await slow[63];
    assert.deepEqual(await node.probe('next'), success);
  });

  test('that wait are given up with their probe', async () => {
    const node = new Node();
    node.sleepers(2);
    const end = new AbortController();
    const waiting = node.probe('next', 'next', 1, end.signal);
    end.abort(noReason);
    await assert.rejects(waiting, (error) => error === noReason);
    await node.clock.advance(10_000);
    assert.deepEqual(node.started, ['slow0', 'slow1']);
  });
});
