import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { alternativeNames, isDnsName, toCanonicalName } from '../../../../src/base/x509/index.ts';

describe('names of a certificate', () => {
  test('are sorted, each once, in one spelling', () => {
    assert.deepEqual(
      alternativeNames([
        'Node-A',
        'node-a.',
        ' 10.0.0.1',
        '10.0.0.1',
        'FD00:0::1',
        'fd00::1',
        '::ffff:10.0.0.1',
      ]),
      { dnsNames: ['node-a'], ipAddresses: ['10.0.0.1', 'fd00::1'] },
    );
  });

  test('what can be in no certificate is left out', () => {
    assert.deepEqual(
      alternativeNames(['', '0.0.0.0', '::', 'my host', 'a..b', `${'x'.repeat(64)}.b`, 'a/b']),
      {
        dnsNames: [],
        ipAddresses: [],
      },
    );
  });

  test('an address loses the zone it is reached through', () => {
    assert.equal(toCanonicalName('fe80::1%eth0'), 'fe80::1');
  });

  test('underscores and wildcards are DNS names', () => {
    assert.ok(isDnsName('my_host.example'));
    assert.ok(isDnsName('*.example'));
    assert.ok(!isDnsName('a.*.example'));
  });

  test('the canonical form is stable, and of the same address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), fc.ipV4(), fc.domain(), fc.string()), (text) => {
        const canonical = toCanonicalName(text);
        assert.equal(toCanonicalName(canonical), canonical);
        if (isIP(text) === 4) assert.equal(canonical, text);
        if (isIP(text) === 6) assert.notEqual(isIP(canonical), 0);
      }),
    );
  });
});
