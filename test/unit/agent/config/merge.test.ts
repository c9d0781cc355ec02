import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { LocatedMap } from '../../../../src/agent/config/located.ts';
import { formatOrigin, locationsOf, mergeLayers, toPlain } from '../../../../src/agent/config/located.ts';
import { parseText } from '../../../../src/agent/config/parse.ts';
import { durationMs } from '../../../../src/base/index.ts';

function parsed(text: string, file = 'main'): LocatedMap {
  const { value, problems } = parseText(text, file);
  assert.deepEqual(problems, []);
  assert.ok(value?.type === 'map');
  return value;
}

/** The result as JSON, for lack of prototypes in the plain form. */
const merged = (main: string, dropIn: string) =>
  JSON.parse(JSON.stringify(toPlain(mergeLayers(parsed(main), parsed(dropIn, 'drop-in')))));

describe('the rules of merging', () => {
  test('1: scalars and structures, each field by itself', () => {
    const main =
      'port: 20250\nauthorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 5m, cacheUnauthorizedTTL: 30s}}';
    const dropIn =
      'authorization: {mode: AlwaysAllow, webhook: {cacheAuthorizedTTL: 8m}}\naddress: 192.168.0.8';
    assert.deepEqual(merged(main, dropIn), {
      port: 20250,
      address: '192.168.0.8',
      authorization: {
        mode: 'AlwaysAllow',
        webhook: { cacheAuthorizedTTL: '8m', cacheUnauthorizedTTL: '30s' },
      },
    });
  });

  test('2: a list is replaced as a whole', () => {
    assert.deepEqual(merged('clusterDNS: [192.168.0.9, 192.168.0.8]', 'clusterDNS: [192.168.0.2]'), {
      clusterDNS: ['192.168.0.2'],
    });
  });

  test('3: a map by key', () => {
    assert.deepEqual(merged('featureGates: {A: false, B: true}', 'featureGates: {A: true, C: false}'), {
      featureGates: { A: true, B: true, C: false },
    });
  });

  test('4: a map of lists by key, each list as a whole', () => {
    const main = 'staticPodURLHeader: {a: ["1", "2"], b: ["3"]}';
    assert.deepEqual(merged(main, 'staticPodURLHeader: {a: ["9"]}'), {
      staticPodURLHeader: { a: ['9'], b: ['3'] },
    });
  });

  test('null deletes, at any depth, and a map replaces what is none', () => {
    assert.deepEqual(merged('a: {b: 1, c: 2}\nd: 3\ne: 4', 'a: {b: null}\nd: ~\ne: {f: {g: null, h: 1}}'), {
      a: { c: 2 },
      e: { f: { h: 1 } },
    });
  });

  test('each value keeps its origin', () => {
    const locations = locationsOf(
      mergeLayers(parsed('a:\n  b: 1\n  c: 2\n'), parsed('\na: {c: 3}\n', 'drop-in')),
    );
    const texts = Object.fromEntries([...locations].map(([path, { key }]) => [path, formatOrigin(key)]));
    assert.deepEqual(texts, { a: 'drop-in:2', 'a.b': 'main:2', 'a.c': 'drop-in:2' });
  });

  test('is JSON Merge Patch', () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.dictionary(fc.string(), json), (main, patch) => {
        // The main file's own nulls mean "not stated", so it is itself a patch of nothing.
        const expected = mergePatch(mergePatch({}, main), patch);
        const layers = [main, patch].map((layer) => parsed(JSON.stringify(layer)));
        const result = layers.reduce(mergeLayers, parsed('{}'));
        assert.deepEqual(JSON.parse(JSON.stringify(toPlain(result))), JSON.parse(JSON.stringify(expected)));
      }),
    );
  });
});

/** RFC 7386, section 2, as it is written there. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result = new Map(
    typeof target === 'object' && target !== null && !Array.isArray(target) ? Object.entries(target) : [],
  );
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, mergePatch(result.get(name), value));
  }
  return Object.fromEntries(result);
}

test('durations', () => {
  const cases: Record<string, number> = {
    '0': 0,
    '10s': 10_000,
    '1m30s': 90_000,
    '1.5h': 5_400_000,
    '.5s': 500,
  };
  Object.assign(cases, { '-2m': -120_000, '100ms': 100, '1000us': 1, '2µs': 0.002, '1h0m0s': 3_600_000 });
  for (const [text, ms] of Object.entries(cases)) assert.equal(durationMs(text), ms, text);
});
