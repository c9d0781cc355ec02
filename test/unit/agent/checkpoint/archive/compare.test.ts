import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ArchiveContents } from '../../../../../src/agent/checkpoint/archive/index.ts';
import { compareArchives, createArchiveReader } from '../../../../../src/agent/checkpoint/archive/index.ts';
import type { CheckpointFacts } from './archives.ts';
import { checkpoint, tar, text } from './archives.ts';

async function contentsOf(facts: CheckpointFacts): Promise<ArchiveContents> {
  const reader = await createArchiveReader({ what: 'it', environmentValues: true });
  await reader.push(tar(checkpoint(facts)));
  return await reader.end();
}

const compare = async (before: CheckpointFacts, after: CheckpointFacts) =>
  compareArchives(await contentsOf(before), await contentsOf(after));

describe('two checkpoints', () => {
  test('of a container that did nothing do not differ', async () => {
    const { differs, same } = await compare({}, {});
    assert.deepEqual([differs, same], [false, 'container']);
  });

  test('tell who came and went, and whose memory grew', async () => {
    const { processes, files, differs } = await compare({ worker: false, pages: 10 }, { pages: 30 });
    assert.ok(differs);
    assert.deepEqual([processes.started.map(({ pid }) => pid), processes.ended], [[7], []]);
    assert.deepEqual(processes.changed, [
      { pid: 1, comm: 'sh', privateBytes: { old: 40_960, new: 122_880 } },
    ]);
    assert.deepEqual(files, { opened: [], closed: [] });
    const back = await compare({}, { worker: false });
    assert.deepEqual(
      back.processes.ended.map(({ comm }) => comm),
      ['worker'],
    );
  });

  test('tell files and sockets that were opened and closed', async () => {
    const [before, after] = [await contentsOf({}), await contentsOf({})];
    const [shell, worker] = after.processes;
    assert.ok(shell && worker);
    const files = shell.files.map((file) => (file.fd === 2 ? { ...file, state: 'ESTABLISHED' } : file));
    const changed = { ...after, processes: [{ ...shell, files: files.slice(1) }, worker] };
    const { opened, closed } = compareArchives(before, changed).files;
    assert.deepEqual(
      opened.map(({ pid, fd, state }) => [pid, fd, state]),
      [[1, 2, 'ESTABLISHED']],
    );
    assert.deepEqual(
      closed.map(({ pid, fd, name }) => [pid, fd, name]),
      [
        [1, 0, '/dev/null'],
        [1, 2, '127.0.0.1:8080'],
      ],
    );
  });

  test('tell names of variables, never their values', async () => {
    const comparison = await compare({}, { environment: ['TOKEN=other', 'NEW=1'] });
    assert.deepEqual(comparison.environment, { added: ['NEW'], removed: ['PATH'], changed: ['TOKEN'] });
    assert.doesNotMatch(JSON.stringify(comparison), /secret|other/);
  });

  test('tell changed files, what grew most first, and the log', async () => {
    const { changedFiles, log } = await compare(
      { changed: [text('a', 'x'), text('b', 'x'), text('c', 'xx')] },
      { changed: [text('b', 'xxxx'), text('d', 'xx'), text('.wh.c', '')], log: 'one\ntwo\n' },
    );
    assert.deepEqual(changedFiles.files, [
      { path: '/b', old: 1, new: 4 },
      { path: '/d', new: 2 },
      { path: '/a', old: 1 },
      { path: '/c', old: 2, new: 'removed' },
    ]);
    assert.deepEqual(
      [changedFiles.count, log],
      [
        { old: 3, new: 2 },
        { old: 4, new: 8 },
      ],
    );
  });

  test('of a container that was started anew, and of different ones, are told apart', async () => {
    const anew = await compare({}, { id: 'container-2' });
    assert.equal(anew.same, 'pod');
    assert.deepEqual(anew.facts, [{ what: 'container id', old: 'container-1', new: 'container-2' }]);
    const { same, differs } = await compare({}, { id: 'container-2', podUid: 'uid-2' });
    assert.deepEqual([same, differs], ['none', true]);
  });
});
