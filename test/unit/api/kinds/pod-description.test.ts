import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bindingBody, evictionBody, podKind } from '../../../../src/api/index.ts';
import type { StructType, Type } from '../../../../src/api/schema/index.ts';
import { podAtomic, podPointers, podRequired, podRetainingKeys } from './reference-markers-pod.ts';
import { podNumbers } from './reference-numbers-pod.ts';

/** Every struct below a type, by its name. */
function structsOf(root: Type): Map<string, StructType> {
  const found = new Map<string, StructType>();
  const visit = (type: Type): void => {
    if (type.t === 'list' || type.t === 'map') visit(type.of);
    if (type.t !== 'struct' || found.has(type.name)) return;
    found.set(type.name, type);
    for (const field of Object.values(type.fields)) visit(field.type);
  };
  visit(root);
  return found;
}

const structs = structsOf(podKind.root);
/** Of other packages, or described with what they belong to. */
const foreign = ['ObjectMeta', 'OwnerReference', 'ManagedFieldsEntry'];
const ofPod = [...structs.values()].filter(({ name }) => !foreign.includes(name));

/** `{PodOS: 'name'}`: the fields of each struct that are so. */
function fieldsThatAre(is: (field: StructType['fields'][string]) => boolean | undefined) {
  const found = ofPod.map(({ name, fields }): [string, string[]] => [
    name,
    Object.keys(fields).filter((field) => fields[field] && is(fields[field])),
  ]);
  return Object.fromEntries(found.filter(([, fields]) => fields.length > 0));
}

function split(reference: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(reference).map(([name, fields]) => [name, fields.split(' ')]));
}

describe('the description of pods', () => {
  test('has every field of every published message', () => {
    const others = ['Binding', 'Eviction', 'ObjectReference', 'SecretReference'];
    const published = Object.keys(podNumbers).filter((name) => !others.includes(name));
    assert.deepEqual(ofPod.map(({ name }) => name).sort(), published.sort());
    for (const { name, fields } of ofPod) {
      const names = (podNumbers[name] ?? '').split(' ').map((pair) => pair.replace(/=.*/, ''));
      const own = Object.keys(fields).filter(
        (field) => !['apiVersion', 'kind'].includes(field) || names.includes(field),
      );
      assert.deepEqual(own.sort(), names.sort(), name);
    }
  });

  test('requires what is required there', () => {
    const ofLabels = { LabelSelectorRequirement: ['key', 'operator'] };
    assert.deepEqual(
      fieldsThatAre(({ required }) => required),
      { ...split(podRequired), ...ofLabels },
    );
  });

  test('tells zero from absent where that is done there', () => {
    assert.deepEqual(
      fieldsThatAre(({ pointer }) => pointer),
      split(podPointers),
    );
  });

  test('replaces as a whole what is replaced so there', () => {
    const atomic = ofPod.filter((struct) => struct.atomic).map(({ name }) => name);
    assert.deepEqual(atomic.sort(), [...podAtomic, 'LabelSelector'].sort());
    const { nodeSelector } = structs.get('PodSpec')?.fields ?? {};
    assert.ok(
      nodeSelector?.type.t === 'map' && nodeSelector.type.atomic,
      'and nodes are selected by all or nothing',
    );
  });

  test('strips items under a patch where that is done there', () => {
    const retaining = ofPod.flatMap(({ name, fields }) =>
      Object.entries(fields)
        .filter(([, { type }]) => type.t === 'list' && type.patch?.retainKeys)
        .map(([field]) => `${name}.${field}`),
    );
    assert.deepEqual(retaining.sort(), [...podRetainingKeys]);
  });
});

test('the bodies of binding and eviction have the published fields', () => {
  for (const { root } of [bindingBody, evictionBody]) {
    const numbers = Object.entries(root.fields)
      .filter(([, { proto }]) => proto !== 0)
      .map(([name, { proto }]) => `${name}=${proto}`);
    assert.equal(numbers.join(' '), podNumbers[root.name]);
  }
});
