import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { composeCheckpointId } from '../../../../src/agent/checkpoint/checkpoint-id.ts';
import { checkName, isCheckpointId } from '../../../../src/api/index.ts';

const time = Date.UTC(2025, 10, 21, 10, 3, 4, 5);
const target = { namespace: 'shop', pod: 'web-0', container: 'server' };

/** Names as the API allows them. */
const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
const subdomain = fc
  .array(label, { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join('.').slice(0, 253));

const anyText = fc.oneof(
  fc.string(),
  fc.stringMatching(/^[-a-z0-9./\0\n]{1,12}$/),
  fc.constantFrom('..', 'a/../b', 'a\n'),
);

describe('the id of a checkpoint', () => {
  test('is as specified, with the time to the nanosecond', () => {
    assert.equal(
      composeCheckpointId(target, time, 0),
      'checkpoint-web-0_shop-server-2025-11-21T10:03:04.005000000Z',
    );
    assert.equal(
      composeCheckpointId(target, time, 17),
      'checkpoint-web-0_shop-server-2025-11-21T10:03:04.005000017Z',
    );
  });

  test('cannot lead out of a folder, whatever passes for a name', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (namespace, pod, container) => {
        const wrong =
          checkName('label', namespace) ?? checkName('subdomain', pod) ?? checkName('label', container);
        if (wrong !== undefined) return;
        const name = composeCheckpointId({ namespace, pod, container }, time, 0);
        assert.equal(basename(join('/folder', name)), name);
      }),
    );
  });

  test('fits into a file system whatever the pod is called, and tells pods apart', () => {
    const long = (pod: string) =>
      composeCheckpointId({ namespace: 'n'.repeat(63), pod, container: 'c'.repeat(63) }, time, 0);
    const [one, other] = [long(`${'p'.repeat(252)}1`), long(`${'p'.repeat(252)}2`)];
    assert.equal(Buffer.byteLength(`.${one}.set.json`), 255); // the longest name that is made of one
    assert.notEqual(one, other);
    fc.assert(
      fc.property(
        label,
        subdomain.filter((name) => checkName('subdomain', name) === undefined),
        label,
        fc.nat(),
        (namespace, pod, container, count) => {
          const name = composeCheckpointId({ namespace, pod, container }, time, count);
          assert.ok(Buffer.byteLength(`.${name}.set.json`) <= 255);
          assert.ok(isCheckpointId(name), name);
        },
      ),
    );
  });
});
