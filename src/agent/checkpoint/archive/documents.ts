/** The runtime's own descriptions in an archive, which are JSON, and the notes of criu. */

import { isRecord } from '../../../api/index.ts';
import { tryParseRecord } from '../../../base/index.ts';
import { criuVersion, dumpLog, frozenMs, statsDump } from '../index.ts';
import type { Budget } from './budget.ts';
import { limits } from './limits.ts';
import type { Notes } from './notes.ts';
import { keepBytes } from './sinks.ts';
import type { EntrySink } from './tar-walk.ts';

type Json = Record<string, unknown>;

export interface Documents {
  /** The container's specification as OCI has it. */
  spec: Json;
  /** What the runtime says of the checkpoint. */
  config: Json;
  /** What the runtime says of the container. */
  status: Json;
  criuVersion: string;
  frozenMs: number | undefined;
  /** Whether there was a `config`. */
  known: boolean;
}

export function createDocuments(): Documents {
  return { spec: {}, config: {}, status: {}, criuVersion: '', frozenMs: undefined, known: false };
}

/** undefined for files that are none of them. */
export function documentSink(name: string, to: Documents, notes: Notes): EntrySink | undefined {
  const json = (take: (value: Json) => void) =>
    keepBytes(limits.documentBytes, ({ bytes, cut }) => {
      const value = cut ? undefined : tryParseRecord(bytes.toString('utf8'));
      if (value !== undefined) take(value);
      else notes.add(`${name} is not understood: ${cut ? 'it is too long' : 'it is no JSON object'}`);
    });
  switch (name) {
    case 'spec.dump':
      return json((value) => Object.assign(to, { spec: value }));
    case 'config.dump':
      return json((value) => Object.assign(to, { config: value, known: true }));
    case 'status.dump':
      return json((value) => Object.assign(to, { status: value }));
    case dumpLog:
      return keepBytes(limits.headBytes, ({ bytes }) => {
        to.criuVersion ||= criuVersion(bytes);
      });
    case statsDump:
      return keepBytes(limits.headBytes, ({ bytes }) => {
        to.frozenMs ??= frozenMs(bytes);
      });
    default:
      return undefined;
  }
}

export function environmentIn(
  { spec }: Documents,
  withValues: boolean,
  budget: Budget,
): { name: string; value?: string }[] {
  const process = isRecord(spec['process']) ? spec['process'] : {};
  const env = Array.isArray(process['env']) ? process['env'] : [];
  const found = new Map<string, { name: string; value?: string }>();
  for (const each of env) {
    if (typeof each !== 'string' || !budget.room('variables', limits.variables)) continue;
    const [name = '', ...rest] = each.split('=');
    const kept = budget.text(name);
    found.set(kept, withValues ? { name: kept, value: budget.text(rest.join('=')) } : { name: kept });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Those of the specification and those of the status; only those that are text. */
export function annotationsIn({ spec, status }: Documents, budget: Budget): Record<string, string> {
  const found: [string, string][] = [];
  for (const from of [spec['annotations'], status['annotations']]) {
    for (const [name, value] of Object.entries(isRecord(from) ? from : {})) {
      if (typeof value !== 'string' || !budget.room('annotations', limits.variables)) continue;
      found.push([budget.text(name), budget.text(value)]);
    }
  }
  return Object.fromEntries(found);
}
