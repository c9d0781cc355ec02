import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { findReason, podReasons } from '../../../src/agent/pods/explain/index.ts';

const root = join(import.meta.dirname, '../../..');
/** The rooms from which pods get their reasons. */
const rooms = ['pods', 'images', 'volumes', 'containers', 'probes', 'seccomp', 'assembly', 'node'];

/** Of Events, and of conditions of pods: no pod waits or ends with them. */
const otherReasons: ReadonlySet<string> = new Set([
  ...['BackOff', 'DNSConfigForming', 'Failed', 'FailedPostStartHook', 'FailedPreStopHook', 'FailedSync'],
  ...['Killing', 'LifecycleHTTPFallback', 'PodFailed', 'RestartAllContainersStarted', 'SandboxChanged'],
  ...['FailedToRetrieveImagePullSecret', 'MissingClusterDNS', 'ContainersNotInitialized', 'PodCompleted'],
  ...['ReadinessGatesNotReady', 'SeccompProfileChanged', 'SeccompProfileInvalid', 'SeccompProfileMissing'],
  ...['SeccompProfileUnreadable', 'VolumePermissionChangeInProgress', 'VolumeUpdated', 'VolumeResizeFailed'],
  ...['FileSystemResizeSuccessful', 'Deferred', 'Infeasible', 'ResizeStarted', 'ResizeCompleted'],
]);

/** Those of the Node, and of its Events. */
const ofNode =
  /^(?:Kubelet|(?:Failed)?NodeAllocatable|NodeStatus|Lease|CertificateS|Checkpoint|Starting|Registered|Runtime|Condition)/;

/** Where a reason is given: in an object, or as the first argument of what makes one. */
const given =
  /(?:reason: |asReason\(\s*|StartError\(\s*|#failFor\(|#count\(this\.#\w+(?:\.get\(key\))?, |name: )'([A-Z][a-zA-Z]{5,})'/g;
const quoted = /['`]([A-Z][a-zA-Z<>-]+)/g;

describe('the reasons of pods', () => {
  const sources = new Map<string, string>();
  before(async () => {
    for (const room of rooms) {
      const folder = join(root, 'src/agent', room);
      for (const path of await readdir(folder, { recursive: true }))
        if (path.endsWith('.ts') && !path.endsWith('explain/reasons.ts'))
          sources.set(join(room, path), await readFile(join(folder, path), 'utf8'));
    }
  });

  test('that the sources give are all in the list, and so in docs/pods.md', () => {
    const found = new Set<string>();
    for (const [path, text] of sources) {
      if (path.startsWith('node/')) continue;
      for (const [, reason = ''] of text.matchAll(given)) {
        if (reason.endsWith('Error') && text.includes(`class ${reason} `)) continue;
        const isKnown = findReason(reason) !== undefined || otherReasons.has(reason) || ofNode.test(reason);
        assert.ok(isKnown, `${path} gives the reason ${reason}: say in explain/reasons.ts what it means`);
        found.add(reason);
      }
    }
    assert.ok(found.size > 35, `only ${found.size} were found`);
  });

  test('in the list are all given somewhere, but for how the runtime says that containers end', () => {
    const words = new Set(
      [...sources.values()].flatMap((text) => [...text.matchAll(quoted)].map(([, word = '']) => word)),
    );
    for (const [reason, { kind }] of Object.entries(podReasons)) {
      if (kind === 'exit' || reason.startsWith('OutOf')) continue;
      assert.ok(words.has(reason), `nothing gives the reason ${reason}`);
    }
  });

  test('are in the page with what they mean and what to do', async () => {
    const page = await readFile(join(root, 'docs/pods.md'), 'utf8');
    const rows = new Map(
      [...page.matchAll(/^\| `([^`]+)` \| (.+) \| (.+) \|$/gm)].map(([, reason, means, advice]) => [
        reason,
        [means, advice],
      ]),
    );
    for (const [reason, each] of Object.entries(podReasons)) {
      const advice = 'advice' in each ? each.advice : 'nothing';
      assert.deepEqual(rows.get(reason), [each.means, advice], reason);
    }
    assert.equal(rows.size, Object.keys(podReasons).length);
  });
});
