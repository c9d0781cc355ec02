import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  apiServerGates,
  featureGates,
  findForeignGateProblem,
  findGateProblem,
  gateNames,
  hasNoEffect,
  parseGates,
  resolveGates,
} from '../../../src/api/index.ts';

describe('feature gates', () => {
  test('stand as the specification has them, but for WatchList, and one of ours', () => {
    const shown = Object.entries(featureGates).map(
      ([name, { stage, byDefault }]) => `${name} ${stage} ${byDefault}`,
    );
    assert.deepEqual(shown, [
      'APIListChunking stable true',
      'APIResponseCompression beta true',
      'AuthorizeWithSelectors alpha false',
      'ContainerCheckpoint beta true',
      'DryRun stable true',
      'InPlacePodVerticalScaling alpha false',
      'ResourceMetricsAPI beta true',
      'ServerSideFieldValidation stable true',
      'WatchList beta true',
    ]);
  });

  test('are resolved each, and by stage where they are not stated', () => {
    assert.deepEqual(Object.keys(resolveGates({})), Object.keys(featureGates), 'none is left out');
    for (const [name, { byDefault }] of Object.entries(featureGates)) {
      assert.equal(Object.entries(resolveGates({})).find(([known]) => known === name)?.[1], byDefault);
    }
    assert.equal(resolveGates({ WatchList: true }).WatchList, true);
    const alpha = resolveGates({ AllAlpha: true, InPlacePodVerticalScaling: false });
    assert.deepEqual([alpha.AuthorizeWithSelectors, alpha.InPlacePodVerticalScaling], [true, false]);
    const beta = resolveGates({ AllBeta: false, WatchList: true });
    assert.deepEqual(
      [beta.APIResponseCompression, beta.WatchList, beta.APIListChunking],
      [false, true, true],
    );
  });

  test('that are locked cannot be switched off, and say so', () => {
    for (const name of ['APIListChunking', 'DryRun', 'ServerSideFieldValidation'] as const) {
      assert.match(findGateProblem(name, false) ?? '', new RegExp(`${name} to false: it is locked to true`));
      assert.equal(findGateProblem(name, true), undefined);
      assert.equal(resolveGates({ [name]: false })[name], true);
    }
  });

  test('that nobody knows are named with all that there are', () => {
    for (const name of ['Nope', 'watchlist', '', 'toString', '__proto__']) {
      const problem = findGateProblem(name, true) ?? '';
      for (const known of gateNames) assert.ok(problem.includes(known), `${problem} names ${known}`);
    }
    for (const name of gateNames) assert.equal(findGateProblem(name, true), undefined, name);
  });

  test('of the reference have no effect here, and are not passed on; none of them is one of ours', () => {
    for (const name of ['MemoryQoS', 'KubeletSeparateDiskGC', 'NodeSwap', 'GracefulNodeShutdown']) {
      assert.equal(findForeignGateProblem(name, true), undefined);
      assert.equal(hasNoEffect(name), true);
      assert.match(findGateProblem(name, true) ?? '', /there is no feature gate/, 'inside a test');
    }
    assert.deepEqual(apiServerGates({ MemoryQoS: true, WatchList: true }), { WatchList: true });
    for (const name of gateNames) assert.equal(hasNoEffect(name), false, name);
    assert.match(findForeignGateProblem('Nope', true) ?? '', /there is no feature gate "Nope"/);
    assert.match(findForeignGateProblem('DryRun', false) ?? '', /it is locked to true/);
  });

  test('of the agent alone are not for the control plane', () => {
    const asked = {
      ContainerCheckpoint: false,
      WatchList: true,
      AllAlpha: true,
      InPlacePodVerticalScaling: true,
    };
    const { ContainerCheckpoint: _agents, ...own } = asked;
    assert.deepEqual(apiServerGates(asked), own);
  });

  test('are written as the reference takes them', () => {
    assert.deepEqual(parseGates('A=true, B=0,,C=F'), [
      ['A', true],
      ['B', false],
      ['C', false],
    ]);
    for (const wrong of ['A', 'A=', '=true', 'A=yes', 'A=true=true']) {
      assert.match(String(parseGates(wrong)), /is not of the form NAME=true or NAME=false/, wrong);
    }
  });
});
