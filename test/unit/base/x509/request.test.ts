import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  alternativeNames,
  createRequest,
  generateKeyPem,
  noNames,
  RequestError,
  readRequest,
} from '../../../../src/base/x509/index.ts';
import { specialRequest } from './special-request.ts';

const subject = { commonName: 'system:node:a', organizations: ['system:nodes'] };

describe('a certificate signing request', () => {
  test('is read as it was made', async () => {
    const names = alternativeNames(['node-a', '10.0.0.1', 'fd00::1']);
    const parsed = await readRequest(await createRequest(await generateKeyPem(), subject, names));
    assert.deepEqual(parsed.subject, subject);
    assert.deepEqual(parsed.names, names);
    assert.deepEqual([parsed.others, parsed.extendedKeyUsages], [[], []]);
  });

  test('names are read in one spelling', async () => {
    const csr = await specialRequest({ names: [{ type: 'dns', value: 'Node-A' }] });
    assert.deepEqual((await readRequest(csr)).names.dnsNames, ['node-a']);
  });

  test('whatever else it asks for is told', async () => {
    const csr = await specialRequest({
      subject: [{ CN: ['system:node:a'] }, { CN: ['admin'] }, { OU: ['x'] }],
      names: [
        { type: 'email', value: 'a@b.example' },
        { type: 'url', value: 'spiffe://x' },
      ],
      authority: true,
      usages: ['1.3.6.1.5.5.7.3.1'],
    });
    const parsed = await readRequest(csr);
    assert.deepEqual(parsed.others, [
      'OU in the subject',
      'several common names',
      'a name of type email',
      'a name of type url',
      'the rights of a certificate authority',
    ]);
    assert.deepEqual(parsed.extendedKeyUsages, ['1.3.6.1.5.5.7.3.1']);
  });

  test('a second list of extensions is not overlooked', async () => {
    const csr = await specialRequest({
      names: [{ type: 'dns', value: 'node-a' }],
      moreNames: [{ type: 'dns', value: 'kubernetes' }],
    });
    assert.deepEqual((await readRequest(csr)).names.dnsNames.toSorted(), ['kubernetes', 'node-a']);
  });

  test('one that was tampered with is refused', async () => {
    const csr = await createRequest(await generateKeyPem(), subject, noNames);
    const der = Buffer.from(csr.replaceAll(/-----.*-----|\s/g, ''), 'base64');
    const at = der.indexOf('system:node:a');
    der.write('b', at + 'system:node:'.length);
    await assert.rejects(readRequest(pem(der)), (error) => {
      assert.ok(error instanceof RequestError);
      assert.match(error.message, /signature of the request is not by its key/);
      return true;
    });
  });

  test('a weak key is refused', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    await assert.rejects(
      specialRequest({ key: privateKey }).then(readRequest),
      /key of the request is not accepted: an RSA key of 1024 bits/,
    );
  });

  const wrong: [string, (csr: string) => string][] = [
    ['nothing', () => ''],
    ['no PEM', () => 'hello'],
    ['another PEM', (csr) => csr.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')],
    ['two of them', (csr) => csr + csr],
    ['something around it', (csr) => `hello\n${csr}`],
    ['cut off', (csr) => pem(Buffer.from(csr.replaceAll(/-----.*-----|\s/g, ''), 'base64').subarray(0, 90))],
    ['huge', (csr) => csr + ' '.repeat(70_000)],
  ];
  for (const [what, change] of wrong) {
    test(`refused: ${what}`, async () => {
      const csr = await createRequest(await generateKeyPem(), subject, noNames);
      await assert.rejects(readRequest(change(csr)), RequestError);
    });
  }

  test('bytes changed anywhere give a RequestError, never another request', async () => {
    const csr = await createRequest(await generateKeyPem(), subject, alternativeNames(['node-a']));
    const der = Buffer.from(csr.replaceAll(/-----.*-----|\s/g, ''), 'base64');
    const honest = await readRequest(csr);
    await fc.assert(
      fc.asyncProperty(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(der);
        changed.writeUInt8((changed[at] ?? 0) ^ change, at);
        const read = await readRequest(pem(changed)).catch((error: unknown) => error);
        // the lengths around the signed part may be read leniently
        if (!(read instanceof RequestError)) assert.deepEqual(read, honest);
      }),
      { numRuns: 200 },
    );
  });
});

function pem(der: Buffer): string {
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}
