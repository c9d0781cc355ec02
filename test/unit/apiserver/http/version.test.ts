import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBuild } from '../../../../src/base/index.ts';
import { runCommandLine } from '../../cli/run-command.ts';
import { startServer } from '../support/index.ts';

test('after an upgrade the commit shows the difference: in /version, in the metric and in nodeward version', async () => {
  await using server = await startServer();
  const { commit, date } = readBuild();
  const { text } = await server.admin.request('GET', '/version');
  const { gitCommit, buildDate } = JSON.parse(text);
  const known = (value: string) => (value === 'unknown' ? '' : value);
  assert.deepEqual([gitCommit, buildDate], [known(commit), known(date)]);
  const metrics = await server.admin.request('GET', '/metrics');
  assert.match(
    metrics.text,
    new RegExp(`^nodeward_build_info\\{.*commit="${commit}",date="${date}".*\\} 1$`, 'm'),
  );
  const { stdout } = await runCommandLine(['version', '-o', 'json']);
  const told = JSON.parse(stdout);
  assert.deepEqual([told.commit, told.date], [commit, date]);
  assert.match(
    (await runCommandLine(['version'])).stdout,
    new RegExp(`commit ${commit.slice(0, 12)} of ${date}`),
  );
});
