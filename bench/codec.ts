/*
 * What it costs to read and to write an object in each encoding: `node bench/codec.ts`. The JSON columns hold the
 * parser and the printer alone and, as a write of a client has it, the pass for double keys and the strict checker.
 */
import { parseJson } from '../src/api/codec/index.ts';
import { decodeMessage, encodeList, encodeMessage } from '../src/api/codec/protobuf/index.ts';
import type { StructType } from '../src/api/schema/index.ts';
import { checkerOf } from '../src/api/schema/index.ts';
import { codecSamples } from './codec-samples.ts';
import { measure, printHead } from './harness.ts';

printHead();
for (const { name, root, object } of codecSamples()) {
  const json = Buffer.from(JSON.stringify(object));
  const protobuf = encodeMessage(root, object);
  console.log(`${name}: ${json.length} bytes of JSON, ${protobuf.length} of protobuf`);
  await measure(`read a ${name}`, {
    'JSON.parse': () => JSON.parse(json.toString()),
    'parseJson and checker': () => readStrictly(root, json),
    'protobuf decodeMessage': () => decodeMessage(root, protobuf),
  });
  await measure(`write a ${name}`, {
    'JSON.stringify': () => Buffer.from(JSON.stringify(object)),
    'protobuf encodeMessage': () => encodeMessage(root, object),
  });
}

const [first] = codecSamples();
if (first !== undefined) {
  const items = Array.from({ length: 10_000 }, () => encodeMessage(first.root, first.object));
  await measure(`a list of 10,000`, { encodeList: () => encodeList(items, { resourceVersion: '1' }) });
}

function readStrictly(root: StructType, json: Buffer): unknown {
  return checkerOf(root)(parseJson(json.toString()).value, undefined, { unknown: [], wrong: [] });
}
