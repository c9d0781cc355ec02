/** The metadata files in an archive: the runtime's descriptions, which are JSON, and criu's log and statistics. */

import { isRecord } from '../../../api/index.ts';
import { tryParseRecord } from '../../../base/index.ts';
import { dumpLog, parseCriuVersion, parseFrozenMs, statsDump } from '../index.ts';
import type { Budget } from './budget.ts';
import { limits } from './limits.ts';
import type { Notes } from './notes.ts';
import type { EntrySink } from './tar-walk.ts';

type Json = Record<string, unknown>;

export interface ArchiveMetadata {
  /** The container's OCI specification. */
  spec: Json;
  /** The runtime's description of the checkpoint. */
  config: Json;
  /** The runtime's description of the container. */
  status: Json;
  criuVersion: string;
  frozenMs: number | undefined;
  /** Whether there was a `config`. */
  known: boolean;
}

export function createMetadata(): ArchiveMetadata {
  return { spec: {}, config: {}, status: {}, criuVersion: '', frozenMs: undefined, known: false };
}

/** Returns a sink that reads the file into `to`; undefined for files that are not metadata. */
export function createMetadataSink(name: string, to: ArchiveMetadata, notes: Notes): EntrySink | undefined {
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
        to.criuVersion ||= parseCriuVersion(bytes);
      });
    case statsDump:
      return keepBytes(limits.headBytes, ({ bytes }) => {
        to.frozenMs ??= parseFrozenMs(bytes);
      });
    default:
      return undefined;
  }
}

export function readEnvironment(
  { spec }: ArchiveMetadata,
  withValues: boolean,
  budget: Budget,
): { name: string; value?: string }[] {
  const process = isRecord(spec['process']) ? spec['process'] : {};
  const env = Array.isArray(process['env']) ? process['env'] : [];
  const found = new Map<string, { name: string; value?: string }>();
  for (const each of env) {
    if (typeof each !== 'string' || !budget.admit('variables', limits.variables)) continue;
    const [name = '', ...rest] = each.split('=');
    const kept = budget.keepText(name);
    found.set(kept, withValues ? { name: kept, value: budget.keepText(rest.join('=')) } : { name: kept });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The annotations of the specification and of the status whose values are texts. */
export function readAnnotations({ spec, status }: ArchiveMetadata, budget: Budget): Record<string, string> {
  const found: [string, string][] = [];
  for (const from of [spec['annotations'], status['annotations']]) {
    for (const [name, value] of Object.entries(isRecord(from) ? from : {})) {
      if (typeof value !== 'string' || !budget.admit('annotations', limits.variables)) continue;
      found.push([budget.keepText(name), budget.keepText(value)]);
    }
  }
  return Object.fromEntries(found);
}

/** Keeps the beginning of a file. */
interface KeptBytes extends EntrySink {
  readonly bytes: Buffer;
  /** Whether there was more than is kept. */
  readonly cut: boolean;
}

function keepBytes(maxBytes: number, whenDone: (kept: KeptBytes) => void): KeptBytes {
  const chunks: Buffer[] = [];
  let kept = 0;
  let cut = false;
  const sink: KeptBytes = {
    push(chunk) {
      const part = chunk.subarray(0, maxBytes - kept);
      cut ||= part.length < chunk.length;
      if (part.length === 0) return;
      chunks.push(Buffer.from(part));
      kept += part.length;
    },
    end: () => whenDone(sink),
    get bytes() {
      return Buffer.concat(chunks);
    },
    get cut() {
      return cut;
    },
  };
  return sink;
}
