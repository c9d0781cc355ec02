import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { askGit, createMetrics, readBuild, registerBuildInfo } from '../../../src/base/index.ts';
import { temporaryFolder } from '../../support/index.ts';

describe('no build identity: every landed commit is the same version', () => {
  test('the commit that is checked out and its time are told', async () => {
    await using folder = await temporaryFolder();
    assert.deepEqual(askGit(folder.path), { commit: 'unknown', date: 'unknown' }, 'no checkout');
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', folder.path, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, GIT_COMMITTER_DATE: '2026-01-02T05:04:05+02:00' },
      });
    git('init', '-q');
    assert.deepEqual(askGit(folder.path), { commit: 'unknown', date: 'unknown' }, 'no commit');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    const commit = git('rev-parse', 'HEAD').trim();
    assert.deepEqual(askGit(folder.path), { commit, date: '2026-01-02T03:04:05Z' });
  });

  test('the metric has it as labels, once for each registry', async () => {
    const registry = createMetrics();
    registerBuildInfo(registry, 'v1');
    registerBuildInfo(registry, 'v1');
    const { commit, date } = readBuild();
    assert.match(
      await registry.metrics(),
      new RegExp(
        `^nodeward_build_info\\{version="v1",commit="${commit}",date="${date}",node="v\\d+.*"\\} 1$`,
        'm',
      ),
    );
  });
});
