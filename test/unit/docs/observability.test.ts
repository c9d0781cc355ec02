import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { createMetrics } from '../../../src/base/index.ts';
import type { ExportedNames, ShippedRule } from '../../support/observability.ts';
import {
  dashboardFile,
  dashboardQueries,
  exportedNames,
  isRecord,
  recordsIn,
  shippedRules,
} from '../../support/observability.ts';
import { imbalanceOf, metricsIn } from '../../support/promql.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'deploy/observability');
const histogramPart = /_(?:bucket|sum|count)$/;

describe('the rules, the dashboard and the page on them', () => {
  let rules: ShippedRule[];
  let isExported: ExportedNames;

  before(async () => {
    rules = await shippedRules(folder);
    const ofSources = await exportedNames(join(root, 'src'));
    const ofEveryProcess = new Set((await createMetrics().getMetricsAsJSON()).map(({ name }) => name));
    const recorded = new Set(rules.filter(({ isAlert }) => !isAlert).map(({ name }) => name));
    isExported = (name) =>
      name === 'up' || // from Prometheus itself
      [name, name.replace(histogramPart, '')].some(
        (each) => ofSources(each) || ofEveryProcess.has(each) || recorded.has(each),
      );
  });

  test('the sources are read as they are: what is registered counts, another name does not', () => {
    for (const name of ['nodeward_storage_writable', 'apiserver_flowcontrol_current_inqueue_requests']) {
      assert.ok(isExported(name), name);
    }
    for (const name of [
      'nodeward_storage_nothing',
      'nodeward_lease',
      'apiserver_flowcontrol_current_x_requests',
    ]) {
      assert.equal(isExported(name), false, name);
    }
  });

  test('every metric in a rule is one that the programs export', () => {
    assert.ok(rules.length > 20);
    for (const { name, expression } of rules) {
      assert.equal(imbalanceOf(expression), undefined, `${name}: ${expression}`);
      const unknown = metricsIn(expression).filter((metric) => !isExported(metric));
      assert.deepEqual(unknown, [], name);
    }
  });

  test('every query of the dashboard uses metrics that exist', async () => {
    const queries = await dashboardQueries(folder);
    assert.ok(queries.length > 20);
    for (const { where, expression } of queries) {
      assert.equal(imbalanceOf(expression), undefined, `${where}: ${expression}`);
      assert.ok(metricsIn(expression).length > 0, `${where}: ${expression}`);
      const unknown = metricsIn(expression).filter((metric) => !isExported(metric));
      assert.deepEqual(unknown, [], where);
    }
  });

  test('every alert says what happened and what to do, and is in the page', async () => {
    const page = await readFile(join(root, 'docs/observability.md'), 'utf8');
    for (const { name, text } of rules.filter(({ isAlert }) => isAlert)) {
      assert.equal(text.split('\n').filter((line) => line !== '').length, 2, name);
      assert.match(page, new RegExp(`\\b${name}\\b`), `docs/observability.md has ${name}`);
    }
  });

  test('every metric in the docs is one that the programs export', async () => {
    const page = await readFile(join(root, 'docs/observability.md'), 'utf8');
    const named = [
      ...page.matchAll(/`((?:nodeward|apiserver|kubelet|process|nodejs)[_:][a-z0-9_:]+)(?:\{[^`]*)?`/g),
    ];
    assert.ok(named.length > 10);
    for (const [, name = ''] of named) assert.ok(isExported(name), name);
  });

  test('every metric of running pods is in the page', async () => {
    const page = await readFile(join(root, 'docs/observability.md'), 'utf8');
    const files = ['pods/worker/life-metrics', 'pods/worker/step-metrics', 'pods/status/metrics'];
    files.push('assembly/pod-metrics', 'images/image-metrics', 'runtime/call-metrics');
    const texts = files.map((file) => readFile(join(root, `src/agent/${file}.ts`), 'utf8'));
    const names = (await Promise.all(texts)).flatMap((text) =>
      [...text.matchAll(/name: '((?:kubelet|nodeward)_[a-z_]+)'/g)].map(([, name]) => name),
    );
    assert.ok(names.length > 25, `only ${names.length} were found`);
    for (const name of names) assert.ok(page.includes(`\`${name}\``), name);
  });

  test('the dashboard has what Grafana needs: places that do not overlap, ids of their own, queries with letters', async () => {
    const board: unknown = JSON.parse(await readFile(join(folder, dashboardFile), 'utf8'));
    assert.ok(isRecord(board));
    assert.equal(typeof board['title'], 'string');
    assert.equal(typeof board['schemaVersion'], 'number');
    const panels = recordsIn(board, 'panels');
    const ids = panels.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const taken = new Set<string>();
    for (const { title, gridPos, type, ...panel } of panels) {
      assert.ok(['row', 'timeseries', 'stat'].includes(String(type)), String(title));
      for (const cell of cellsOf(gridPos)) {
        assert.equal(taken.has(cell), false, `${title} overlaps another at ${cell}`);
        taken.add(cell);
      }
      const letters = recordsIn(panel, 'targets').map(({ refId }) => refId);
      assert.equal(new Set(letters).size, letters.length, String(title));
    }
  });
});

function cellsOf(place: unknown): string[] {
  assert.ok(isRecord(place));
  const [x, y, w, h] = ['x', 'y', 'w', 'h'].map((side) => Number(place[side]));
  assert.ok(x !== undefined && y !== undefined && w !== undefined && h !== undefined && x + w <= 24);
  return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`);
}

test('expressions with open brackets or quotes are found, and names are read from them', () => {
  assert.equal(imbalanceOf('sum(rate(a{b="("}[5m]))'), undefined);
  assert.equal(imbalanceOf('sum(a{b="c"}'), '( stays open');
  assert.equal(imbalanceOf('sum(a]'), '] closes nothing');
  assert.equal(imbalanceOf('a{b="c}'), 'a quote is open');
  assert.deepEqual(metricsIn('sum by (x, y) (rate(a_total{c="d"}[5m])) / on (z) n:b:c or vector(0)'), [
    'a_total',
    'n:b:c',
  ]);
});
