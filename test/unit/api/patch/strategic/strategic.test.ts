import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { servedKinds } from '../../../../../src/api/index.ts';
import { applyStrategicPatch, PatchError } from '../../../../../src/api/patch/index.ts';
import type { StructType } from '../../../../../src/api/schema/index.ts';
import type { Case } from './cases/index.ts';
import { rules } from './cases/index.ts';
import { frozen } from './frozen.ts';

for (const { rule, cases } of rules) {
  describe(`strategic merge patch: ${rule}`, () => {
    for (const each of cases) it(each.name, () => check(each));
  });
}

it('every case is there once', () => {
  const all = rules.flatMap(({ rule, cases }) => cases.map(({ name }) => `${rule}: ${name}`));
  assert.equal(new Set(all).size, all.length);
});

function check({ kind = 'Pod', given, patch, gives, refused }: Case): void {
  const apply = () => applyStrategicPatch(rootOf(kind), frozen(given), frozen(patch));
  if (refused === undefined) {
    assert.ok(gives !== undefined, 'a case says what it gives');
    assert.deepEqual(apply(), gives);
    return;
  }
  assert.throws(apply, (error) => {
    assert.ok(error instanceof PatchError, `${error}`);
    assert.deepEqual({ reason: error.reason, message: error.message }, refused);
    return true;
  });
}

function rootOf(name: string): StructType {
  const kind = servedKinds.find((each) => each.kind === name);
  assert.ok(kind, `no kind is called ${name}`);
  return kind.root;
}
