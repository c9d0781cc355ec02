import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { billionths } from '../../../../src/api/kinds/quantity.ts';
import { canonicalQuantity } from '../../../../src/api/schema/quantity.ts';

/** What comes in and what the reference answers, several a line. */
const families: Readonly<Record<string, string>> = {
  'are the shortest already': '0=0 1=1 8=8 110=110 500m=500m 250u=250u 5n=5n 16Gi=16Gi 512Ki=512Ki 1500=1500',
  'end in zeros': '1000=1k 100000=100k 1000m=1 1000k=1M 1000000000=1G 2000Ki=2000Ki 1500m=1500m 10000T=10P',
  'are multiples of 1024':
    '1024Mi=1Gi 1024Ki=1Mi 1048576Ki=1Gi 32827392Ki=32058Mi 2048Gi=2Ti 1024=1024 1536Mi=1536Mi',
  'have fractions':
    '0.5=500m .5=500m 1.5=1500m 0.1=100m 0.001=1m 0.05000=50m 1.50=1500m 2.5k=2500 1.08=1080m',
  'have binary fractions':
    '1.5Gi=1536Mi 0.5Mi=512Ki 0.5Gi=512Mi 0.3Gi=322122547200m 100.035Ki=102435840m 1.5Ki=1536',
  'are binary and small': '0.5Ki=512 0.25Ki=256 1Ki=1Ki 0.0001Ki=102400u 0.000000000001Ki=2n .001Ki=1024m',
  'have an exponent':
    '1e3=1e3 1E3=1E3 10e2=1e3 1e4=10e3 1.5e3=1500 1.3E+6=1300e3 .001e12=1e9 1000e-12=1e-9 0.001e0=1e-3 1e-3=1e-3 5e-1=500e-3 1e31=10e30 1e0=1e0',
  'are nothing': '0Gi=0 0.0=0 -0=0 +0=0 00=0 0e5=0 0n=0 .0=0 0.=0',
  'are below zero': '-1=-1 -0.5=-500m -1024Mi=-1Gi -1000=-1k -1.5Gi=-1536Mi -3.001n=-4n',
  'are too fine': '0.1n=1n 3.001n=4n 0.0000000001=1n 0.00000012345=124n 1.1e-9=2e-9 1e-1000=1e-9 0.9n=1n',
  'are very large':
    '9Ei=9223372036854775807 8Ei=9223372036854775807 7Ei=7Ei 9223372036854775807Ki=9223372036854775807',
  'are larger than any suffix, which the reference loses': '1000E=1000E 12E=12E 5000000000000000000000=5000E',
  'the reference leaves alone':
    '1.500=1.500 1.234=1.234 +5=+5 010=010 1.=1. 1.G=1.G +5Gi=+5Gi 7.123456M=7.123456M 2.500k=2.500k 100.035k=100.035k 1.2e4=1.2e4',
  'the reference does not leave alone':
    '1.000=1 2.5000k=2500 307200Ki=300Mi 5000m=5 1080000000n=1080m +8Gi=8Gi +1000=1k 1234567890123456789=1234567890123456789',
};

describe('quantities that', () => {
  for (const [name, cases] of Object.entries(families)) {
    test(`${name}: ${cases}`, () => {
      for (const pair of cases.split(' ')) {
        const [given = '', expected] = pair.split('=');
        assert.equal(canonicalQuantity(given), expected, given);
      }
    });
  }
});

test('what is no quantity is none', () => {
  const texts = [
    '',
    '.',
    '-',
    '+',
    'Gi',
    'm',
    '1 Gi',
    '1gi',
    '1ki',
    '1K',
    '1mi',
    '1e',
    '1e+',
    '0x10',
    '1,5',
    '--1',
    '1.2.3',
  ];
  for (const text of [...texts, '1Gi ', ' 1', 'NaN', 'Infinity', '1e9999999999', '1'.repeat(65), '١'])
    assert.equal(canonicalQuantity(text), undefined, JSON.stringify(text));
});

const digits = fc.stringMatching(/^\d{0,12}$/);
const suffix = fc.constantFrom(
  ...'n u m k M G T P E Ki Mi Gi Ti Pi Ei'.split(' '),
  '',
  'e3',
  'E-2',
  'e+7',
  'e-12',
  'e20',
);
const quantities = fc
  .tuple(fc.constantFrom('', '-', '+'), digits, fc.constantFrom('', '.'), digits, suffix)
  .map(([sign, whole, point, fraction, end]) => `${sign}${whole}${point}${point && fraction}${end}`)
  .filter((text) => /\d/.test(text.replace(/[eE][+-]?\d+$/, '')));

/** Where a binary quantity ends. */
const largest = (2n ** 63n - 1n) * 10n ** 9n;

test('the canonical form has the same value, and is its own', () => {
  fc.assert(
    fc.property(quantities, (text) => {
      const canonical = canonicalQuantity(text);
      assert.ok(canonical !== undefined, text);
      const again = canonicalQuantity(canonical) ?? '';
      // 687.5Ki becomes 704000, which no longer says that it is binary: read again it is the decimal 704k
      if (text.endsWith('i') && !canonical.endsWith('i'))
        assert.equal(billionths(again), billionths(canonical));
      else assert.equal(again, canonical, text);
      const value = billionths(text);
      if (text.endsWith('i') && (value > largest || value < -largest)) return;
      assert.equal(billionths(canonical), value, `${text} and ${canonical}`);
    }),
    { numRuns: 20_000 },
  );
});

test('two texts of one value and one family have one form, but for those that are left alone', () => {
  const plain = fc.tuple(
    fc.bigInt(1n, 10n ** 12n),
    fc.constantFrom('', 'k', 'M'),
    fc.constantFrom('Ki', 'Mi', 'Gi'),
  );
  fc.assert(
    fc.property(plain, ([number, decimal, binary]) => {
      const smaller: Record<string, string> = { k: '', M: 'k', '': 'm', Mi: 'Ki', Gi: 'Mi', Ki: '' };
      assert.equal(
        canonicalQuantity(`${number}${decimal}`),
        canonicalQuantity(`${number}000${smaller[decimal]}`),
      );
      if (binary === 'Ki' || number >= 2n ** 20n) return;
      assert.equal(
        canonicalQuantity(`${number}${binary}`),
        canonicalQuantity(`${number * 1024n}${smaller[binary]}`),
      );
    }),
  );
});
