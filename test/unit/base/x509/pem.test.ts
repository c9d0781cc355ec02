import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatPem, readPemBlocks } from '../../../../src/base/x509/index.ts';

const bytes = Buffer.from('some bytes that need more than one line of base64, which holds 48 of them');
const whole = formatPem('CERTIFICATE', bytes);
const read = (text: string) =>
  readPemBlocks(text).map(
    (block) => `${block.type} ${block.bytes}${block.hasHeaders ? ' with headers' : ''}`,
  );
const block = `CERTIFICATE ${bytes}`;

describe('PEM', () => {
  test('is read as it was written, in lines of 64 characters', () => {
    assert.deepEqual(read(whole), [block]);
    assert.ok(whole.split('\n').every((line) => line.length <= 64));
  });

  test('of several blocks, with words between them and line ends of all sorts', () => {
    const text = `# one\r\n${whole.replaceAll('\n', '\r\n')}\nand two: 2\n${whole.trimEnd()}`;
    assert.deepEqual(read(text), [block, block]);
    assert.deepEqual(read(''), []);
    assert.deepEqual(read('-----BEGIN A-----\n-----END A-----'), ['A ']);
  });

  test('with headers says so', () => {
    const headed = whole.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\nkey: value\n\n');
    assert.deepEqual(read(headed), [`${block} with headers`]);
  });

  test('that is not whole, or no base64, is no block; what follows is read', () => {
    const [head = '', ...body] = whole.split('\n');
    for (const broken of [
      head,
      body.join('\n'),
      whole.replace('END CERTIFICATE', 'END OTHER'),
      whole.replace('\n', '\n!'),
      whole.replace('\n', '\nA'),
      whole.replace('-----BEGIN', '----BEGIN'),
      whole.replace('CERTIFICATE-----', 'CERTIFICATE----- '.trimEnd().slice(1)),
    ]) {
      assert.deepEqual(read(`${broken}\n${whole}`), [block], broken);
    }
  });

  test('of a megabyte of beginnings takes no time that grows with its square', () => {
    const started = performance.now();
    assert.deepEqual(read('-----BEGIN CERTIFICATE-----\n'.repeat(40_000)), []);
    assert.deepEqual(read(`-----BEGIN A-----\n${'x:y\n'.repeat(250_000)}`), []);
    assert.ok(performance.now() - started < 5000);
  });
});
