import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isRecord } from '../../../../src/api/index.ts';
import type { Content, Outcome, Scenario } from './play.ts';
import { decoded, kindOf, play } from './play.ts';

const folder = join(import.meta.dirname, '../../../golden/apply');

function read<T>(name: string): T {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'));
}

const scenarios = read<Scenario[]>('scenarios.json');
const expected = read<Record<string, Outcome[]>>('outcomes.json');

describe('scenarios that the reference has played come out the same here', () => {
  for (const scenario of scenarios) {
    test(scenario.name, () => {
      const outcomes = play(scenario);
      scenario.steps.forEach((step, index) => {
        const told = `step ${index + 1}, ${JSON.stringify(step)}`;
        const theirs = expected[scenario.name]?.[index];
        assert.ok(theirs, told);
        assert.deepEqual(comparable(scenario, outcomes[index]), comparable(scenario, theirs), told);
      });
    });
  }
});

/** The reference names the object before it says what is wrong with a configuration. */
const named = /^failed to create typed patch object \([^)]*\): /;

function comparable({ kind }: Scenario, outcome: Outcome | undefined) {
  if (outcome?.error !== undefined) return { error: outcome.error.replace(named, '') };
  const object = decoded(kindOf(kind), { ...outcome?.object });
  return { object: withoutEmpty(object), managers: outcome?.managers ?? [] };
}

/** What Go writes although nothing is set: `status: {}`. Required fields that are zero it writes too. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isRecord(value)) return value;
  const fields: Content = {};
  for (const [name, inner] of Object.entries(value)) {
    const kept = withoutEmpty(inner);
    const isUnset = writtenUnset.includes(name) && (kept === '' || kept === 0);
    if (!isUnset && !(isRecord(kept) && Object.keys(kept).length === 0)) fields[name] = kept;
  }
  return fields;
}

const writtenUnset = [
  'architecture',
  'bootID',
  'containerRuntimeVersion',
  'kernelVersion',
  'kubeProxyVersion',
  'kubeletVersion',
  'machineID',
  'operatingSystem',
  'osImage',
  'systemUUID',
  'Port',
];
