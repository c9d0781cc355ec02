/** What is shipped for Prometheus and Grafana, before Debian's promtool and the metrics of running programs. */
import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TemporaryFolder } from '../support/index.ts';
import { runCommand, temporaryFolder } from '../support/index.ts';
import { dashboardQueries, recordsIn, ruleFiles, shippedRules } from '../support/observability.ts';
import { metricsIn } from '../support/promql.ts';
import { ensureBuilt } from './installation.ts';
import { fetched, repository } from './lab/index.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { curl, startAgent } from './nodeward/index.ts';

const shipped = join(repository, 'deploy/observability');
/** Registered only with several servers, an audit log or an authorization webhook. */
const conditional = /^(?:apiserver_authorization_|nodeward_audit_|leader_election_)/;

describe("Debian's promtool", () => {
  let folder: TemporaryFolder;
  const promtool = (argv: readonly string[]) => runCommand(fetched('prometheus/bin/promtool'), argv);

  before(async () => {
    folder = await temporaryFolder('observability-');
    await cp(shipped, folder.path, { recursive: true });
    for (const name of ['token', 'ca.crt']) {
      const path = join(folder.path, name);
      await writeFile(path, 'x');
      const config = join(folder.path, 'prometheus.yml');
      const text = await readFile(config, 'utf8');
      await writeFile(config, text.replaceAll(`/etc/prometheus/nodeward/${name}`, path));
    }
  });
  after(() => folder?.[Symbol.asyncDispose]());

  test('takes the rules', async () => {
    const result = await promtool(['check', 'rules', ...ruleFiles.map((name) => join(folder.path, name))]);
    assert.equal(result.code, 0, result.stdout + result.stderr);
    assert.doesNotMatch(result.stdout + result.stderr, /duplicate|FAILED/);
  });

  test('takes the static scrape jobs with a token file and an authority, and the rules that they name', async () => {
    const result = await promtool(['check', 'config', join(folder.path, 'prometheus.yml')]);
    assert.equal(result.code, 0, result.stdout + result.stderr);
    assert.match(result.stdout, /2 rule files found/);
  });

  test('takes every query of the dashboard as a rule', async () => {
    const queries = await dashboardQueries(shipped);
    const panels = queries.filter(({ expression }) => !expression.startsWith('label_values('));
    const rules = panels.map(({ expression }, at) => ({ record: `dashboard:${at}`, expr: expression }));
    assert.ok(rules.length > 20);
    const file = join(folder.path, 'dashboard.yml');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    const result = await promtool(['check', 'rules', file]);
    assert.equal(result.code, 0, result.stdout + result.stderr);
  });

  test('refuses an expression that is none', async () => {
    const file = join(folder.path, 'wrong.yml');
    await writeFile(
      file,
      JSON.stringify({ groups: [{ name: 'x', rules: [{ record: 'a:b', expr: 'sum(' }] }] }),
    );
    assert.notEqual((await promtool(['check', 'rules', file])).code, 0);
  });
});

describe('a running agent with its control plane', () => {
  let home: TemporaryFolder;
  let agent: RunningAgent;

  before(async () => {
    await ensureBuilt();
    home = await temporaryFolder('observability-');
    agent = await startAgent({ rootDir: join(home.path, 'root') });
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  test('exports every metric that a rule or the dashboard names', async () => {
    const pki = join(home.path, 'root/pki');
    const exported = new Set<string>();
    for (const url of [agent.summary.API, agent.summary.agent]) {
      const answer = await curl(pki, `${url}/metrics`, { method: 'GET' });
      for (const [, name = ''] of answer.body.matchAll(/^# TYPE (\S+) /gm)) exported.add(name);
    }
    const rules = await shippedRules(shipped);
    const recorded = new Set(rules.map(({ name }) => name));
    const expressions = [...rules, ...(await dashboardQueries(shipped))].map(({ expression }) => expression);
    const missing = expressions
      .flatMap(metricsIn)
      .filter((name) => name !== 'up' && !recorded.has(name) && !conditional.test(name))
      .filter((name) => !exported.has(name) && !exported.has(name.replace(/_(?:bucket|sum|count)$/, '')));
    assert.deepEqual(missing, []);
  });
});

test('the dashboard is JSON with panels, each with the data source that is chosen', async () => {
  const board: unknown = JSON.parse(await readFile(join(shipped, 'grafana-dashboard.json'), 'utf8'));
  const panels = recordsIn(board, 'panels').filter(({ type }) => type !== 'row');
  assert.ok(panels.length > 15);
  for (const { title, datasource } of panels) {
    assert.match(JSON.stringify(datasource), /"uid":"\$\{datasource\}"/, String(title));
  }
});
