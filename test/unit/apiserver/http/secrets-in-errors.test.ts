import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ApiObject, ObjectType } from '../../../../src/api/index.ts';
import {
  encodeObject,
  loadYamlReader,
  secretKind,
  tokenRequest,
  tokenReviewKind,
} from '../../../../src/api/index.ts';
import { isRecord } from '../../../../src/api/schema/index.ts';
import type { Reply } from '../support/index.ts';
import { configMaps, named, startServer } from '../support/index.ts';
import { mediaTypeOf } from './encodings/wire.ts';

/*
 * A body that is refused may hold a password, and an error is logged, shown and sent on. So wherever the canary stands
 * as a value, no error shows it. Keys and names are shown, and what metadata says: they tell what is meant.
 */

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const canary = 'hunter2-canary!';
const inBase64 = Buffer.from(canary).toString('base64');
const secrets = '/api/v1/namespaces/default/secrets';
const accounts = '/api/v1/namespaces/default/serviceaccounts';
await admin.must('POST', accounts, named('robot'));
const stored = await admin.must('POST', secrets, named('stored'));

interface Target {
  type: ObjectType;
  path: string;
  method: 'POST' | 'PUT';
  object: ApiObject & Record<string, unknown>;
}

const secret = {
  kind: 'Secret',
  apiVersion: 'v1',
  type: 'Opaque',
  immutable: false,
  data: { password: inBase64, user: 'YQ==' },
  stringData: { other: canary },
};
const version = 'authentication.k8s.io/v1';
const targets: readonly Target[] = [
  { type: secretKind, path: secrets, method: 'POST', object: { ...secret, metadata: { name: 'new' } } },
  {
    type: secretKind,
    path: `${secrets}/stored`,
    method: 'PUT',
    object: { ...secret, metadata: { name: 'stored', uid: stored.metadata.uid ?? '' } },
  },
  {
    type: tokenReviewKind,
    path: `/apis/${version}/tokenreviews`,
    method: 'POST',
    object: { kind: 'TokenReview', apiVersion: version, spec: { token: canary, audiences: ['a'] } },
  },
  {
    type: tokenRequest,
    path: `${accounts}/robot/token`,
    method: 'POST',
    object: {
      kind: 'TokenRequest',
      apiVersion: version,
      spec: { audiences: [canary], expirationSeconds: 1, attestations: { a: [canary] } },
    },
  },
];

const readYaml = await loadYamlReader();

/** Whether the canary has become a key. */
function isInKey(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isInKey);
  return (
    isRecord(value) && Object.entries(value).some(([key, inner]) => key.includes('canary') || isInKey(inner))
  );
}

/** Whether it has become a key or metadata. YAML reads JSON, too. */
function isShownByRight(text: string): boolean {
  try {
    const { value } = readYaml(text);
    return isInKey(value) || (isRecord(value) && JSON.stringify(value['metadata'] ?? '').includes('canary'));
  } catch {
    return false;
  }
}

let refusals = 0;

/** Sends a body; when it is refused, nothing of the canary is told. */
async function tell({ path, method }: Target, contentType: string, body: Buffer | string): Promise<void> {
  const reply = await admin.request(method, `${path}?dryRun=All`, {
    body: Buffer.from(body),
    headers: { 'content-type': contentType },
  });
  const isText = contentType !== mediaTypeOf.protobuf;
  if (reply.code < 400 || (isText && isShownByRight(body.toString()))) return;
  expectSilence(reply, body.toString());
}

function expectSilence({ text, rawHeaders, code }: Reply, body: string): void {
  refusals++;
  const told = `${code} ${rawHeaders.join()} ${text}`;
  for (const part of ['hunter2', 'canary', inBase64.slice(0, 8)])
    assert.ok(!told.includes(part), `${told}, for ${body}`);
}

/** The object with other values at every place but in its metadata, once each. */
function* changed(value: unknown, top = true): Generator<unknown> {
  if (!top) yield* [canary, [canary], { [`k`]: canary }, { [`k`]: [canary] }, `${inBase64}!`];
  if (Array.isArray(value)) {
    for (const inner of changed(value[0], false)) yield [inner];
  } else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (top && key === 'metadata') continue;
      for (const other of changed(inner, false)) yield { ...value, [key]: other };
    }
  }
}

for (const target of targets) {
  const { type, method, object } = target;

  describe(`an error about a ${type.kind} (${method}) shows no value`, () => {
    const json = JSON.stringify(object);
    const places = Array.from({ length: (json.length + 1) / 2 }, (_, at) => 2 * at);

    test('of a wrong type, or that is not valid', async () => {
      for (const other of changed(object)) {
        await tell(target, mediaTypeOf.json, JSON.stringify(other));
        await tell(target, mediaTypeOf.yaml, JSON.stringify(other));
      }
      for (const whole of [canary, [canary], { metadata: canary }, { metadata: { labels: [canary] } }])
        await tell(target, mediaTypeOf.json, JSON.stringify(whole));
    });

    test('under another content type, or on a wrong path', async () => {
      await tell(target, 'text/plain', json);
      await tell({ ...target, path: `${target.path}/nowhere/at/all` }, mediaTypeOf.json, json);
      await tell({ ...target, method: method === 'PUT' ? 'POST' : 'PUT' }, mediaTypeOf.json, json);
      const other = { ...target, path: configMaps('default') };
      await tell(other, mediaTypeOf.json, json);
    });
    if (method === 'PUT') return; // what cannot be read is told before anything is done with it

    test('in JSON that is cut off or has something else in it', async () => {
      for (const at of places) {
        await tell(target, mediaTypeOf.json, json.slice(0, at));
        for (const more of [canary, '"', '\\'])
          await tell(target, mediaTypeOf.json, json.slice(0, at) + more + json.slice(at));
      }
    });

    test('in YAML that is cut off or has something else in it', async () => {
      for (const at of places) {
        await tell(target, mediaTypeOf.yaml, json.slice(0, at));
        for (const more of ['!', '*', '&', '"', '@'])
          await tell(target, mediaTypeOf.yaml, `${json.slice(0, at)}${more}${canary} ${json.slice(at)}`);
      }
      for (const sign of ['!', '!!', '*', '&', '!e!', '!<', '|9', '@', '`', '"\\q', '.inf #'])
        await tell(target, mediaTypeOf.yaml, `spec: ${sign}${canary}\ndata: {a: ${sign}${canary}}\n`);
      await tell(
        target,
        mediaTypeOf.yaml,
        `%TAG !${canary} x\n%TAG !${canary}! x\n%TAG !${canary}! x\n---\na: 1`,
      );
    });

    test('in protobuf that is cut off or has other types of the wire', async () => {
      const bytes = Buffer.from(encodeObject(type, object, 'protobuf'));
      for (const [at, byte] of bytes.entries()) {
        await tell(target, mediaTypeOf.protobuf, bytes.subarray(0, at));
        for (const wireType of [0, 3, 5]) {
          const other = Buffer.from(bytes);
          other[at] = (byte & 0xf8) | wireType;
          if (other.toString('latin1').includes(canary)) await tell(target, mediaTypeOf.protobuf, other);
        }
      }
    });
  });
}

test('bytes of any kind are not shown either', async () => {
  const body = { ...named('bytes'), binaryData: { a: canary } };
  const { message, reply } = await admin.refused('BadRequest', 'POST', configMaps('default'), { body });
  expectSilence(reply, canary);
  assert.match(message ?? '', /binaryData.a: expected base64 text, found a string/);
});

test('and the log tells nothing, of all that was refused', () => {
  assert.ok(refusals > 1500, String(refusals));
  assert.doesNotMatch(server.logged(), /hunter2|canary/);
});
