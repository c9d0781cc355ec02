import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { collectFields } from '../../../../src/api/apply/collect-fields.ts';
import type { FieldSet } from '../../../../src/api/apply/field-set.ts';
import {
  childAt,
  difference,
  intersection,
  isMember,
  mapParts,
  rootOf,
  union,
} from '../../../../src/api/apply/field-set.ts';
import { formatPaths } from '../../../../src/api/apply/format-paths.ts';
import { withParentFields } from '../../../../src/api/apply/prune.ts';
import { toTrackedType } from '../../../../src/api/apply/tracked-type.ts';
import type { ApiObject } from '../../../../src/api/index.ts';
import {
  ApplyConflictError,
  applyConfiguration,
  isRecord,
  podKind,
  trackUpdate,
  withWritten,
} from '../../../../src/api/index.ts';
import type { StructType, Type } from '../../../../src/api/schema/index.ts';
import { timeOf } from './play.ts';
import { small } from './small.ts';
import { objectsOf } from './values.ts';

interface Write {
  by: string;
  operation: 'Apply' | 'Update';
  force: boolean;
  object: ApiObject;
}

function writesOf(type: StructType, kind: string): fc.Arbitrary<Write[]> {
  const write = fc.record({
    by: fc.constantFrom('a', 'b', 'c'),
    operation: fc.constantFrom('Apply' as const, 'Apply' as const, 'Update' as const),
    force: fc.boolean(),
    object: objectsOf(type, { apiVersion: 'v1', kind }),
  });
  return fc.array(write, { minLength: 1, maxLength: 8 });
}

function writer(by: string, operation: 'Apply' | 'Update') {
  return { manager: by, operation, apiVersion: 'v1', subresource: '' };
}

/** The object after a write; as it was where that met a conflict. */
function after(type: StructType, live: ApiObject | undefined, write: Write, step: number) {
  const { by, operation, force } = write;
  const object = frozen(write.object);
  if (operation === 'Apply') return applied(type, live, object, by, { force, now: timeOf(step) }) ?? live;
  const managedFields = trackUpdate(
    type,
    frozen(live),
    object,
    undefined,
    writer(by, operation),
    timeOf(step),
  );
  return { ...object, metadata: { ...object.metadata, ...(managedFields && { managedFields }) } };
}

function applied(
  type: StructType,
  live: ApiObject | undefined,
  configuration: ApiObject,
  by: string,
  options: { force: boolean; now: string },
): ApiObject | undefined {
  try {
    return applyConfiguration(type, frozen(live), configuration, writer(by, 'Apply'), options);
  } catch (error) {
    if (error instanceof ApplyConflictError) return undefined;
    throw error;
  }
}

/** Whoever changed it would throw. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

function managersOf(object: ApiObject | undefined) {
  return object?.metadata?.managedFields ?? [];
}

function ownedIn(object: ApiObject | undefined): FieldSet | undefined {
  return managersOf(object).reduce<FieldSet | undefined>(
    (all, { fieldsV1 }) => union(all, rootOf(fieldsV1)),
    undefined,
  );
}

const empty: ApiObject = { apiVersion: 'v1', metadata: { name: 'x' } };

for (const { name, type, runs } of [
  { name: 'Small', type: small, runs: 600 },
  { name: 'Pod', type: podKind.root, runs: 200 },
]) {
  const tracked = toTrackedType(type);
  const writes = writesOf(type, name);
  const fields = (object: ApiObject) => collectFields(tracked, object, { unique: false });
  const played = (all: readonly Write[]) =>
    all.reduce<ApiObject | undefined>((live, write, index) => after(type, live, write, index + 1), undefined);

  describe(`after any writes to a ${name}`, () => {
    test('every field has an owner, and nobody owns what does not exist', () => {
      fc.assert(
        fc.property(writes, (all) => {
          let live: ApiObject | undefined;
          for (const [index, write] of all.entries()) {
            live = after(type, live, write, index + 1);
            if (live === undefined || managersOf(live).length === 0) continue; // it was never tracked
            const owned = ownedIn(live);
            const there = fields(withAllThatIsThere(type, withWritten(type, live)));
            const unowned = difference(fields(withoutEmpty(live)), owned);
            assert.deepEqual(formatPaths(unowned), [], 'unowned');
            assert.deepEqual(
              formatPaths(difference(owned, withParentFields(tracked, there))),
              [],
              'owned, not there',
            );
          }
        }),
        { numRuns: runs },
      );
    });

    test('the same configuration applied again changes nothing', () => {
      fc.assert(
        fc.property(writes, (all) => {
          const live = played(all.slice(0, -1));
          const last = all.at(-1);
          assert.ok(last);
          const first = applied(type, live, last.object, last.by, { force: true, now: timeOf(10) });
          const again = applied(type, first, last.object, last.by, { force: false, now: timeOf(11) });
          assert.equal(again, first);
        }),
        { numRuns: runs },
      );
    });

    test('a manager that applies nothing any more takes nothing away that others own', () => {
      fc.assert(
        fc.property(writes, (all) => {
          const live = played(all);
          if (live === undefined) return;
          const left = applied(type, live, empty, 'a', { force: false, now: timeOf(20) });
          assert.ok(left, 'there is nothing to be in conflict with');
          const others = managersOf(live).filter(
            ({ manager, operation }) => manager !== 'a' || operation !== 'Apply',
          );
          const owned = others.reduce<FieldSet | undefined>(
            (all, { fieldsV1 }) => union(all, rootOf(fieldsV1)),
            undefined,
          );
          const standing = intersection(withOwnItems(owned), fields(live));
          assert.deepEqual(formatPaths(difference(standing, ownedIn(left))), []);
          assert.deepEqual(valuesAt(standing, left), valuesAt(standing, live));
          const mine = managersOf(left).some(
            ({ manager, operation }) => manager === 'a' && operation === 'Apply',
          );
          assert.equal(mine, false);
        }),
        { numRuns: runs },
      );
    });
  });
}

/** Structs that are there even when they are absent, and lists that are required. */
function withAllThatIsThere<T>(type: Type, value: T): T {
  const copy = structuredClone(value);
  addAbsent(type, copy);
  return copy;
}

function addAbsent(type: Type, value: unknown): void {
  if (type.t === 'list' && Array.isArray(value)) for (const item of value) addAbsent(type.of, item);
  if (type.t !== 'struct' || !isRecord(value)) return;
  for (const [name, { type: of, required, default: otherwise }] of Object.entries(type.fields)) {
    const isThere = of.t === 'struct' ? required || otherwise !== undefined : required && of.t === 'list';
    if (isThere && value[name] === undefined) value[name] = of.t === 'struct' ? {} : null;
    addAbsent(of, value[name]);
  }
}

/** An object that others have emptied is nobody's, as long as nothing is in it. */
function withoutEmpty<T>(value: T): T {
  const copy = structuredClone(value);
  dropEmpty(copy);
  return copy;
}

function dropEmpty(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    dropEmpty(inner);
    if (isRecord(inner) && Object.keys(inner).length === 0) Reflect.deleteProperty(value, name);
  }
}

/** The set without what stands in items that themselves are nobody's: those go with whoever made them. */
function withOwnItems(set: FieldSet | undefined): FieldSet | undefined {
  if (set === undefined) return undefined;
  return mapParts(set, isMember(set), (element, inner) => {
    const isForeign = element.startsWith('k:') && !isMember(inner);
    return isForeign ? undefined : (withOwnItems(inner) ?? (isMember(inner) ? inner : undefined));
  });
}

/** Values of the scalars among the members, as far as names alone lead to them. */
function valuesAt(set: FieldSet | undefined, value: unknown): unknown {
  if (set === undefined) return undefined;
  const inner = Object.keys(set).filter((element) => element.startsWith('f:'));
  if (inner.length === 0) return typeof value === 'object' ? undefined : value;
  return inner.map((element) => {
    const held =
      typeof value === 'object' && value !== null ? Reflect.get(value, element.slice(2)) : undefined;
    return [element, valuesAt(childAt(set, element), held)];
  });
}

test('what both have in common is what is left when the difference is taken away', () => {
  const sets = objectsOf(small, { apiVersion: 'v1', kind: 'Small' }).map((object) =>
    collectFields(small, object, { unique: true }),
  );
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      const common = formatPaths(intersection(a, b)).sort();
      assert.deepEqual(formatPaths(difference(a, difference(a, b))).sort(), common);
    }),
  );
});
