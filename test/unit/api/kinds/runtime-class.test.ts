import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RuntimeClass } from '../../../../src/api/kinds/nodes/runtime-class.ts';
import { runtimeClassKind } from '../../../../src/api/kinds/nodes/runtime-class.ts';

const causes = (next: RuntimeClass, old?: RuntimeClass) =>
  runtimeClassKind.validate(next, old).map(({ field, message }) => `${field}: ${message}`);

describe('a RuntimeClass', () => {
  test('names a handler, and may say what it costs and where it is', () => {
    assert.deepEqual(causes({ handler: 'runc' }), []);
    const scheduling = {
      nodeSelector: { 'example.com/sandboxed': 'true' },
      tolerations: [
        { key: 'sandboxed', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'sandboxed', operator: 'Exists', effect: 'NoExecute' },
      ],
    };
    assert.deepEqual(causes({ handler: 'gvisor', overhead: { podFixed: { cpu: '250m' } }, scheduling }), []);
  });

  test('has a handler that is a DNS label', () => {
    for (const handler of ['', 'Runc', 'a.b', '-a', 'a'.repeat(64)]) {
      const [cause = ''] = causes({ handler });
      assert.ok(cause.startsWith(`handler: Invalid value: ${JSON.stringify(handler)}: `), cause);
    }
  });

  test('keeps its handler', () => {
    const next = { handler: 'kata', overhead: { podFixed: { memory: '1Mi' } } };
    assert.deepEqual(causes(next, { handler: 'runc' }), [
      'handler: Invalid value: "kata": field is immutable',
    ]);
    assert.deepEqual(causes(next, { handler: 'kata' }), []);
  });

  test('has an overhead of resources that containers have', () => {
    assert.deepEqual(causes({ handler: 'a', overhead: { podFixed: { cpu: '-1', disk: '1' } } }), [
      'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'overhead.limits[disk]: Invalid value: "disk": must be a standard resource for containers',
    ]);
  });

  test('has tolerations that are valid, each once however long it lasts', () => {
    const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute' };
    const tolerations = [toleration, { ...toleration, tolerationSeconds: 5 }, { operator: 'Equal' }];
    const [operator = '', repeated = '', ...none] = causes({ handler: 'a', scheduling: { tolerations } });
    assert.match(
      operator,
      /^scheduling\.tolerations\[2\]\.operator: Invalid value: "Equal": operator must be/,
    );
    assert.match(repeated, /^scheduling\.tolerations\[1\]: Duplicate value: \{/);
    assert.deepEqual(none, []);
    assert.match(
      causes({ handler: 'a', scheduling: { nodeSelector: { a: '?' } } }).join(),
      /^scheduling\.nodeSelector: Invalid value: "\?"/,
    );
  });
});
