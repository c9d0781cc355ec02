import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Service } from '../../../../src/base/index.ts';
import { computeStartOrder } from '../../../../src/base/lifecycle/start-order.ts';

function service(name: string, ...dependsOn: string[]): Service {
  return { name, dependsOn, onFailure: 'stop', run: async () => undefined };
}

describe('the order of starting', () => {
  test('puts each service after all it stands on, whatever the order they are given in', () => {
    const order = computeStartOrder([
      service('server', 'runtime', 'lock'),
      service('runtime', 'lock'),
      service('lock'),
    ]);
    assert.deepEqual(
      order.map(({ name }) => name),
      ['lock', 'runtime', 'server'],
    );
  });

  test('names the circle', () => {
    const services = [service('a', 'b'), service('b', 'c'), service('c', 'b')];
    assert.throws(() => computeStartOrder(services), /services depend in a circle: a → b → c → b/);
    assert.throws(() => computeStartOrder([service('a', 'a')]), /a → a/);
  });

  test('names what does not exist and who wants it', () => {
    assert.throws(
      () => computeStartOrder([service('a', 'ghost')]),
      /service a depends on ghost, which does not exist/,
    );
  });

  test('refuses two of one name', () => {
    assert.throws(() => computeStartOrder([service('a'), service('a')]), /two services are named a/);
  });

  test('holds for any web without circles, each service once', () => {
    const web = fc
      .array(fc.array(fc.nat(20), { maxLength: 4 }), { maxLength: 20 })
      .map((edges) =>
        edges.map((wanted, index) =>
          service(`s${index}`, ...wanted.filter((other) => other < index).map((other) => `s${other}`)),
        ),
      )
      .chain((services) => fc.shuffledSubarray(services, { minLength: services.length }));
    fc.assert(
      fc.property(web, (services) => {
        const placed = new Set<string>();
        for (const { name, dependsOn } of computeStartOrder(services)) {
          assert.ok(dependsOn.every((other) => placed.has(other)));
          assert.ok(!placed.has(name));
          placed.add(name);
        }
        assert.equal(placed.size, services.length);
      }),
    );
  });
});
