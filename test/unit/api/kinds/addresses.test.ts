import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkCidr, checkIP } from '../../../../src/api/kinds/addresses.ts';

describe('an IP address', () => {
  test('is one of either family', () => {
    for (const good of ['10.9.8.7', '::', '::1', '2001:db8::ffff', 'FE80:0:0:0:0:0:0:0abc', '::1.2.3.4'])
      assert.equal(checkIP(good), undefined, good);
    for (const bad of ['', 'a', '1.2.3', '1.2.3.256', '010.2.3.4', 'fe80::1%eth0', '1.2.3.4/32'])
      assert.match(checkIP(bad) ?? '', /^must be a valid IP address/, bad);
  });

  test('is not an IPv4-mapped one', () => {
    for (const bad of ['::ffff:1.2.3.4', '::FFFF:0:1', '0:0:0:0:0:ffff:102:304'])
      assert.equal(checkIP(bad), 'must not be an IPv4-mapped IPv6 address', bad);
  });
});

describe('a range of addresses', () => {
  test('ends at its prefix', () => {
    for (const good of [
      '10.9.8.0/24',
      '0.0.0.0/0',
      '1.2.3.4/32',
      '::/0',
      '2001:db8::/64',
      '::1/128',
      'fd00:1::2:0/112',
    ])
      assert.equal(checkCidr(good), undefined, good);
    for (const bad of ['10.9.8.7/24', '128.0.0.0/0', '::1/127', '2001:db8:0:0:1::/64'])
      assert.equal(checkCidr(bad), 'must not have bits set beyond the prefix length', bad);
    assert.equal(checkCidr('::ffff:1.2.3.0/120'), 'must not have an IPv4-mapped IPv6 address');
  });

  test('has an address and a length', () => {
    for (const bad of [
      '',
      '/',
      '10.0.0.0',
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/08',
      '10.0.0.0/-1',
      'x/8',
      '::%a/64',
    ])
      assert.match(checkCidr(bad) ?? '', /^must be a valid CIDR value/, bad);
  });
});
