import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodSource } from '../../../../../src/agent/pods/index.ts';
import { joinSources } from '../../../../../src/agent/pods/index.ts';
import type { Verdict } from '../../../../../src/agent/pods/sources/verdicts.ts';
import { rejectDuplicates } from '../../../../../src/agent/pods/sources/verdicts.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { memoryLog } from '../support.ts';

type Origin = 'file' | 'http' | 'api' | 'mirror';

function podOf(origin: Origin, name: string, uid = `${origin}-${name}`): Pod {
  const annotations =
    origin === 'mirror' ? { 'kubernetes.io/config.mirror': 'x' } : { 'kubernetes.io/config.source': origin };
  return { metadata: { name, namespace: 'default', uid, annotations } };
}

/** A source whose pods the test sets. */
function sourceOf(...first: readonly Pod[]) {
  let pods = first;
  const listeners = new Set<(pods: readonly Pod[]) => void>();
  const source: PodSource = {
    pods: () => pods,
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
  return {
    source,
    set(...now: readonly Pod[]) {
      pods = now;
      for (const listener of listeners) listener(now);
    },
  };
}

function join(...sources: readonly ReturnType<typeof sourceOf>[]) {
  const { log, lines } = memoryLog();
  const joined = joinSources(
    sources.map(({ source }) => source),
    log,
  );
  return { joined, lines, uids: () => joined.pods().map(({ metadata }) => metadata?.uid) };
}

describe('several sources', () => {
  test('have all their pods, in their order, without mirrors', () => {
    const { uids, lines } = join(
      sourceOf(podOf('file', 'b')),
      sourceOf(podOf('http', 'a')),
      sourceOf(podOf('api', 'c'), podOf('mirror', 'b')),
    );
    assert.deepEqual([uids(), lines], [['file-b', 'http-a', 'api-c'], []]);
  });

  test('that have one static pod have it once, that of the folder, and say so once', () => {
    const [folder, url] = [sourceOf(), sourceOf(podOf('http', 'a'), podOf('http', 'b'))];
    const { joined, uids, lines } = join(folder, url);
    using _joined = joined;
    assert.deepEqual(uids(), ['http-a', 'http-b']);
    folder.set(podOf('file', 'a'));
    assert.deepEqual([uids(), uids()], Array(2).fill(['file-a', 'http-b']));
    assert.equal(lines.length, 1);
    assert.match(
      lines[0] ?? '',
      /pod default\/a of the URL of manifests does not count: the folder of manifests has the pod of that name/,
    );
    folder.set();
    assert.deepEqual(uids(), ['http-a', 'http-b']);
    folder.set(podOf('file', 'a'));
    assert.equal(lines.length, 2, 'it is said again');
  });

  test('that have one uid have one pod, whatever its name', () => {
    const { uids, lines } = join(sourceOf(podOf('file', 'a', 'u')), sourceOf(podOf('api', 'b', 'u')));
    assert.deepEqual(uids(), ['u']);
    assert.match(lines[0] ?? '', /of the API does not count: .* has the pod default\/a with its uid/);
  });

  test('may have a pod of the API with the name of a static one: those follow each other', () => {
    const { uids } = join(sourceOf(podOf('file', 'a')), sourceOf(podOf('api', 'a')));
    assert.deepEqual(uids(), ['file-a', 'api-a']);
  });
});

describe('several files', () => {
  const verdictOf = (file: string, pod: Pod): Verdict => ({
    file,
    pod,
    state: 'accepted',
    faults: [],
    warnings: [],
    since: '',
  });

  test('with one pod, by its name or its uid: the first has it, the others say which', () => {
    const found = rejectDuplicates([
      verdictOf('a.yaml', podOf('file', 'x', 'u')),
      verdictOf('b.yaml', podOf('file', 'x')),
      verdictOf('c.yaml', podOf('file', 'y', 'u')),
      verdictOf('d.yaml', podOf('file', 'y', 'v')),
    ]);
    assert.deepEqual(
      found.map(({ file, state, faults, pod }) => [file, state, faults[0]?.message, pod?.metadata?.uid]),
      [
        ['a.yaml', 'accepted', undefined, 'u'],
        ['b.yaml', 'duplicate', 'a.yaml has a pod default/x already', undefined],
        ['c.yaml', 'duplicate', 'a.yaml has a pod with the uid u already', undefined],
        ['d.yaml', 'accepted', undefined, 'v'],
      ],
    );
  });
});
