/**
 * Reads the published messages and writes what they are into published.json: for each group and version their kinds, and
 * the numbers of every message's fields. The messages are text, so nothing but Node.js and the package is needed.
 *
 *   node test/golden/make/published.ts FOLDER test/golden/published.json
 *
 * FOLDER is `usr/share/gocode/src/k8s.io` of the unpacked golang-k8s-api-dev; ../README.md says how it is fetched.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the reference 1.36 serves unless told otherwise. */
const served = [
  ...['admissionregistration/v1', 'apps/v1', 'authentication/v1', 'authorization/v1', 'autoscaling/v1'],
  ...['autoscaling/v2', 'batch/v1', 'certificates/v1', 'certificates/v1beta1', 'coordination/v1', 'core/v1'],
  ...['discovery/v1', 'events/v1', 'flowcontrol/v1', 'networking/v1', 'node/v1', 'policy/v1', 'rbac/v1'],
  ...['resource/v1', 'scheduling/v1', 'storage/v1'],
];

/** Definitions that are not with the others; in a folder beside them. */
const elsewhere: Readonly<Record<string, string>> = {
  'apiregistration/v1': 'kube-aggregator/pkg/apis/apiregistration/v1',
};

/** The fields of each message, `metadata=1 spec=2`. */
type Messages = Record<string, string>;

function readMessages(file: string): Messages {
  const messages: Messages = {};
  for (const [, name = '', body = ''] of readFileSync(file, 'utf8').matchAll(
    /^message (\w+) \{\n(.*?)^\}/gms,
  )) {
    const fields = body.matchAll(/^ {2}(?:optional |repeated |map<)[^;]*?(\w+) = (\d+);$/gm);
    messages[name] = [...fields].map(([, field = '', number = '']) => `${field}=${number}`).join(' ');
  }
  return messages;
}

function isKind(name: string, messages: Messages): boolean {
  return messages[name]?.startsWith('metadata=1') === true && `${name}List` in messages;
}

const [from = '', to = ''] = process.argv.slice(2);
const groups = [...served, ...Object.keys(elsewhere)].map((group) => {
  const messages = readMessages(join(from, elsewhere[group] ?? join('api', group), 'generated.proto'));
  const kinds = Object.keys(messages).filter((name) => isKind(name, messages));
  const lists = new Set(kinds.map((name) => `${name}List`));
  const fields = Object.fromEntries(Object.entries(messages).filter(([name]) => !lists.has(name)));
  return [group, { kinds, fields }] as const;
});
writeFileSync(to, `${JSON.stringify(Object.fromEntries(groups))}\n`);
