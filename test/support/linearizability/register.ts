import type { Model } from './check.ts';
import type { Operation } from './history.ts';
import type { ToldVersion } from './versions.ts';

/**
 * A register per key with a version: read, and write on condition. What a store and an API with resourceVersions
 * promise of one object.
 */
export type RegisterInput =
  | { readonly key: string; readonly op: 'read' }
  | {
      readonly key: string;
      readonly op: 'write';
      /** The version that it must have; 0: there must be none; `any`: there must be one. */
      readonly expect: number | 'any';
      /** Null: delete. Values are written once each, so that a read tells whose write it saw. */
      readonly value: string | null;
    };

export interface Held {
  readonly value: string;
  readonly version: number;
}

/** What is there: a value, nothing, or a value that the answer does not tell. */
export type Seen = Held | 'absent' | 'present';

export type RegisterOutput =
  /** `at`: the version of the whole that it is a part of, a list's. */
  | { readonly saw: Held | 'absent'; readonly at?: number }
  /** Done; undefined where the answer does not tell the version. */
  | { readonly version: number | undefined }
  | { readonly refusedFor: Seen };

/** The version that an answer tells: of a write, or of a list. A single read tells one that may be old. */
export function versionTold({ output }: Operation<RegisterInput, RegisterOutput>): ToldVersion | undefined {
  if (output === undefined || 'refusedFor' in output) return undefined;
  if ('saw' in output) return output.at === undefined ? undefined : { version: output.at, isNew: false };
  return output.version === undefined ? undefined : { version: output.version, isNew: true };
}

export interface RegisterState {
  readonly value: string | null;
  /** 0: absent; undefined: nobody has been told yet. */
  readonly version: number | undefined;
  /** No version up to this one is given again. */
  readonly newest: number;
}

export const registerModel: Model<RegisterState, RegisterInput, RegisterOutput> = {
  initial: { value: null, version: 0, newest: 0 },
  partitionOf: ({ key }) => key,
  nameOf: ({ value, version, newest }) => JSON.stringify([value, version, newest]),
  step(state, input, output) {
    if (input.op === 'read') return output === undefined ? state : afterRead(state, output);
    const { expect, value } = input;
    const agrees = expect === 'any' ? state.value !== null : state.version === expect;
    const done = agrees && (value !== null || state.value !== null);
    if (output === undefined) return done ? afterWrite(state, value, undefined) : state;
    if ('refusedFor' in output) return done ? undefined : afterRefusal(state, expect, output.refusedFor);
    return done && 'version' in output ? afterWrite(state, value, output.version) : undefined;
  },
};

function afterRead(state: RegisterState, output: RegisterOutput): RegisterState | undefined {
  return 'saw' in output ? showing(state, output.saw) : undefined;
}

function afterRefusal(state: RegisterState, expect: number | 'any', seen: Seen): RegisterState | undefined {
  if (typeof seen === 'object' && seen.version === expect) return undefined;
  return showing(state, seen);
}

function afterWrite(
  state: RegisterState,
  value: string | null,
  version: number | undefined,
): RegisterState | undefined {
  if (version !== undefined && version <= state.newest) return undefined;
  return { value, version: value === null ? 0 : version, newest: version ?? state.newest };
}

/** The state, if it is the one that was seen; a version that was not told before is known from then on. */
function showing(state: RegisterState, seen: Seen): RegisterState | undefined {
  if (seen === 'absent') return state.value === null ? state : undefined;
  if (seen === 'present') return state.value === null ? undefined : state;
  if (state.value !== seen.value) return undefined;
  if (state.version === seen.version) return state;
  if (state.version !== undefined || seen.version <= state.newest) return undefined;
  return { ...state, version: seen.version, newest: seen.version };
}
