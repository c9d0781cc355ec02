import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { load } from 'js-yaml';
import { servedKinds, withWritten } from '../../../../src/api/index.ts';
import type { Reply, Shown, TestServer } from '../support/index.ts';
import { objectIn, startServer, statusIn } from '../support/index.ts';
import { managersOf } from './managers.ts';

/*
 * Stories of several people who write one object. A story says what the object is and then what happens to it, step by
 * step: who does what, how it ends, and what the object and its owners then are. Each step is one HTTP request.
 *
 *     { by: 'A', applies: 'data: {color: red}', ends: 'created', owners: { A: ['.data.color'] } },
 *     { by: 'B', applies: 'data: {color: blue}', ends: 'refused', naming: ['"A"', '.data.color'] },
 */

/** How a request ends. `unchanged`: it succeeds and writes nothing, so the resourceVersion stays. */
const codes = {
  created: [201],
  changed: [200],
  unchanged: [200],
  accepted: [200, 201, 202],
  refused: [409],
  invalid: [422],
  malformed: [400],
  'not found': [404],
  forbidden: [403],
  'not understood': [415],
} as const;

/** What somebody does; the texts are YAML and say only what matters: the type and name are added. */
type Deed =
  | { applies: string }
  | { 'applies in full': string }
  | { creates: string }
  /** PUT of the object as it is, but for these top-level fields (and of the metadata, these fields). */
  | { replaces: string }
  | { 'merge-patches': string }
  | { 'json-patches': string }
  | { 'strategically patches': string }
  | { deletes: true };

export type Step = (Deed | { meanwhile: (place: Place) => Promise<unknown> } | { finally: true }) & {
  by?: string;
  /** Without it: through the object's own path. */
  through?: string;
  force?: true;
  'dry run'?: true;
  validation?: 'Strict' | 'Warn' | 'Ignore';
  /** `accepted` unless told otherwise. */
  ends?: keyof typeof codes;
  /** What the message says, or the causes. */
  naming?: readonly string[];
  warning?: readonly string[];
  /**
   * YAML: the top-level fields, and of the metadata the fields, are then exactly so, but for what is always written; null
   * says that there is no more than that.
   */
  object?: string;
  /** Who then owns which fields, in full. */
  owners?: Readonly<Record<string, readonly string[]>>;
};

/** What a story is about. */
export interface Subject {
  apiVersion: string;
  kind: string;
  /** Path of the collection. */
  path: string;
}

export interface Place {
  server: TestServer;
  subject: Subject;
  name: string;
}

export type Stories = Readonly<Record<string, readonly Step[]>>;

/** Tells stories to a server of their own, each about a new object. */
export async function tell(title: string, subject: Subject, stories: Stories): Promise<void> {
  const server = await startServer();
  describe(title, () => {
    after(() => server[Symbol.asyncDispose]());
    for (const [index, [line, steps]] of Object.entries(stories).entries()) {
      test(line, () => play({ server, subject, name: `story-${index + 1}` }, steps));
    }
  });
}

async function play(place: Place, steps: readonly Step[]): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const about = `step ${index + 1}: ${JSON.stringify(step)}`;
    const before = await versionOf(place);
    if ('meanwhile' in step) await step.meanwhile(place);
    else if (!('finally' in step)) checkOutcome(step, before, await send(place, step), about);
    if (step.ends === 'unchanged' || step['dry run'] || !isSuccess(step)) {
      assert.equal(await versionOf(place), before, `nothing is written in ${about}`);
    }
    await checkObject(place, step, about);
  }
}

const isSuccess = ({ ends = 'accepted' }: Step) => codes[ends].some((code) => code < 300);

async function send(place: Place, step: Step): Promise<Reply> {
  const { server, subject, name } = place;
  const { method, type, body } = await requestOf(place, step);
  const query = new URLSearchParams({
    ...(step.by === undefined ? {} : { fieldManager: step.by }),
    ...(step.force ? { force: 'true' } : {}),
    ...(step['dry run'] ? { dryRun: 'All' } : {}),
    ...(step.validation === undefined ? {} : { fieldValidation: step.validation }),
  });
  const own = method === 'POST' ? subject.path : `${subject.path}/${name}`;
  const path = step.through === undefined ? own : `${own}/${step.through}`;
  return await server.admin.request(method, `${path}?${query}`, {
    ...(body === undefined ? {} : { body }),
    headers: { 'content-type': type },
  });
}

interface Sent {
  method: string;
  type: string;
  body?: object | string;
}

const json = 'application/json';

async function requestOf(place: Place, step: Step): Promise<Sent> {
  const patch = (type: string, body: object | string) => ({ method: 'PATCH', type, body });
  if ('applies' in step) return patch('application/apply-patch+yaml', whole(place, step.applies));
  if ('applies in full' in step) return patch('application/apply-patch+yaml', step['applies in full']);
  if ('creates' in step) return { method: 'POST', type: json, body: whole(place, step.creates) };
  if ('replaces' in step) return { method: 'PUT', type: json, body: await replaced(place, step.replaces) };
  if ('merge-patches' in step) return patch('application/merge-patch+json', fieldsOf(step['merge-patches']));
  if ('json-patches' in step) return patch('application/json-patch+json', valueIn(step['json-patches']));
  if ('strategically patches' in step)
    return patch('application/strategic-merge-patch+json', fieldsOf(step['strategically patches']));
  return { method: 'DELETE', type: json };
}

function valueIn(yaml: string): object {
  const value: unknown = load(yaml);
  assert.ok(typeof value === 'object' && value !== null, yaml);
  return value;
}

function fieldsOf(yaml: string): Record<string, object> {
  return { ...valueIn(yaml) };
}

function whole({ subject: { apiVersion, kind }, name }: Place, yaml: string): object {
  const { metadata, ...fields } = fieldsOf(yaml);
  return { apiVersion, kind, metadata: { name, ...metadata }, ...fields };
}

async function replaced({ server, subject, name }: Place, yaml: string): Promise<object> {
  const { metadata, ...fields } = fieldsOf(yaml);
  const now = await server.admin.must('GET', `${subject.path}/${name}`);
  return { ...now, ...fields, metadata: { ...now.metadata, ...metadata } };
}

function checkOutcome(step: Step, before: string, reply: Reply, about: string): void {
  const { ends = 'accepted', naming = [], warning = [] } = step;
  const expected: readonly number[] = codes[ends];
  assert.ok(expected.includes(reply.code), `${about}\nends with ${reply.code}: ${reply.text}`);
  if (ends === 'changed' && !step['dry run']) {
    assert.notEqual(objectIn(reply).metadata.resourceVersion, before, `something is written in ${about}`);
  }
  if (!isSuccess(step)) {
    const { message = '', details = {} } = statusIn(reply);
    const told = [message, ...(details.causes ?? []).map((cause) => `${cause.field} ${cause.message}`)];
    for (const text of naming) assert.ok(told.join('\n').includes(text), `${about}\nnames ${text}: ${told}`);
  }
  const warnings = [reply.headers['warning'] ?? []].flat().join('\n').replaceAll('\\"', '"');
  for (const text of warning) assert.ok(warnings.includes(text), `${about}\nwarns of ${text}: ${warnings}`);
  if (warning.length === 0) assert.equal(warnings, '', about);
}

async function current({ server, subject, name }: Place): Promise<Shown | undefined> {
  const reply = await server.admin.request('GET', `${subject.path}/${name}`);
  return reply.code === 404 ? undefined : objectIn(reply);
}

/** The version of the object; empty where there is none. */
async function versionOf(place: Place): Promise<string> {
  return (await current(place))?.metadata.resourceVersion ?? '';
}

/** The value with what is written in any case. */
function writtenOf({ subject }: Place, name: string, value: unknown): unknown {
  const kind = servedKinds.find((each) => each.kind === subject.kind);
  assert.ok(kind !== undefined);
  const whole = withWritten(kind.root, value === null ? {} : { [name]: value });
  return Reflect.get(whole, name) ?? null;
}

async function checkObject(place: Place, { object, owners }: Step, about: string): Promise<void> {
  if (object === undefined && owners === undefined) return;
  const now = await current(place);
  assert.ok(now !== undefined, `${about}\nthe object is there`);
  const { metadata = {}, ...fields } = fieldsOf(object ?? '{}');
  for (const [wanted, found] of [
    [fields, now],
    [metadata, now.metadata],
  ]) {
    for (const [name, value] of Object.entries(wanted ?? {})) {
      const is: unknown = Reflect.get(found ?? {}, name);
      assert.deepEqual(is ?? null, writtenOf(place, name, value), `${name} after ${about}`);
    }
  }
  if (owners !== undefined) assert.deepEqual(managersOf(now), owners, `owners after ${about}`);
}
