import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { kubeletPaths, serveKubeletPaths } from '../../../../../src/agent/plugins/devices/index.ts';
import { createLogger, systemClock, untilAborted } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';

function recordingLog() {
  let text = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { log: createLogger({ format: 'json', level: 'info', output, colour: false }), text: () => text };
}

describe('the paths of the reference', () => {
  test('are those that plugins have written into them', () => {
    assert.deepEqual(kubeletPaths('/var/lib/kubelet'), {
      registrationSocket: '/var/lib/kubelet/device-plugins/kubelet.sock',
      pluginsDir: '/var/lib/kubelet',
      podResourcesSocket: '/var/lib/kubelet/pod-resources/kubelet.sock',
    });
  });

  for (const which of ['registrationSocket', 'podResourcesSocket'] as const) {
    test(`are left alone while a kubelet lives at its ${which}, and served when it has gone`, async () => {
      await using home = await temporaryFolder('kubelet-');
      const paths = kubeletPaths(home.path);
      await mkdir(dirname(paths[which]), { recursive: true });
      const kubelet = createServer((peer) => peer.on('error', () => undefined));
      await new Promise<void>((resolve) => kubelet.listen(paths[which], resolve));
      const { log, text } = recordingLog();
      const end = new AbortController();
      let ready = false;
      let served = 0;
      const part = {
        name: 'part',
        async run(signal: AbortSignal) {
          served += 1;
          if (served === 1) throw new Error('not yet');
          await untilAborted(signal);
        },
      };
      const run = serveKubeletPaths({
        paths,
        parts: [part],
        clock: systemClock,
        log,
        againMs: 20,
        restartMs: 10,
      });
      const running = run(end.signal, () => {
        ready = true;
      });
      try {
        await waitFor('the agent to go on', () => ready);
        assert.equal(served, 0);
        assert.match(text(), /is served by another process, a kubelet it seems/);
        assert.ok(text().includes(paths[which]));
      } finally {
        kubelet.close();
      }
      await waitFor('the paths to be served, after a failure again', () => served === 2);
      assert.equal(text().match(/another process/g)?.length, 1, 'told once');
      end.abort();
      await running;
    });
  }
});
