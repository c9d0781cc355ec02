import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  createRequest,
  generateKeyPem,
  noNames,
  RequestError,
  readOrganizations,
  readRequest,
} from '../../../../src/base/x509/index.ts';

const key = await generateKeyPem();

test('the organizations of a subject are those that it was made with', async () => {
  const name = fc
    .string({ minLength: 1, maxLength: 200, unit: 'binary' })
    .filter((text) => text.isWellFormed());
  const property = fc.asyncProperty(fc.array(name, { maxLength: 5 }), async (organizations) => {
    const pem = await createRequest(key, { commonName: 'x', organizations }, noNames);
    const found = readOrganizations(pem);
    for (const organization of organizations) assert.ok(found.includes(organization), organization);
  });
  await fc.assert(property, { numRuns: 100 });
});

test('what means something elsewhere is a plain text in a subject', async () => {
  const organizations = ['a\\b', '\\41', '#04', 'a, O=b', ' a '];
  const pem = await createRequest(key, { commonName: 'x', organizations }, noNames);
  const found = readOrganizations(pem);
  assert.deepEqual(
    organizations.filter((name) => !found.includes(name)),
    [],
  );
  assert.deepEqual((await readRequest(pem)).subject.organizations, organizations);
});

test('a subject of none has none', async () => {
  const pem = await createRequest(key, { commonName: 'system:masters', organizations: [] }, noNames);
  assert.deepEqual(readOrganizations(pem), []);
});

test('whatever bytes come are read or refused with a RequestError', async () => {
  const pem = await createRequest(key, { commonName: 'x', organizations: ['devs'] }, noNames);
  const der = Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64');
  const change = fc.tuple(fc.nat(Math.min(60, der.length - 1)), fc.nat(255));
  const property = fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
    const broken = Buffer.from(der);
    for (const [at, value] of changes) broken[at] = value;
    try {
      assert.ok(Array.isArray(readOrganizations(armoured(broken))));
    } catch (error) {
      assert.ok(error instanceof RequestError, String(error));
    }
  });
  fc.assert(property, { numRuns: 2_000 });
});

function armoured(der: Buffer): string {
  const name = 'CERTIFICATE REQUEST';
  return `-----BEGIN ${name}-----\n${der.toString('base64')}\n-----END ${name}-----\n`;
}
