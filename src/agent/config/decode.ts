import type { Findings } from '../../api/schema/index.ts';
import { checkerOf } from '../../api/schema/index.ts';
import { configApiVersion, configApiVersionOf, configKind, kubeletConfiguration } from './fields.ts';
import type { LocatedMap, Location } from './located.ts';
import { locationsOf, mapOf, toPlain } from './located.ts';
import { parseText } from './parse.ts';
import type { Problem } from './problems.ts';
import { redactMessage } from './view.ts';

export interface Decoded {
  /** What the file states, without what is wrong; undefined when nothing of it can be used. */
  value: LocatedMap | undefined;
  problems: Problem[];
}

const check = checkerOf(kubeletConfiguration);

/**
 * Decodes one file strictly: it must state apiVersion and kind, and hold known fields of the right type only.
 * A null is kept: it deletes when files are merged.
 */
export function decodeText(text: string, file: string, groupSuffix?: string): Decoded {
  const apiVersion = groupSuffix === undefined ? configApiVersion : configApiVersionOf(groupSuffix);
  const { value, problems } = parseText(text, file);
  if (value === undefined) {
    if (problems.length === 0) problems.push({ file, path: '', message: emptyMessage(apiVersion) });
    return { value: undefined, problems };
  }
  if (value.type !== 'map') {
    const message =
      value.type === 'scalar' && value.value === null
        ? emptyMessage(apiVersion)
        : 'expected fields, as in "port: 10250"';
    return { value: undefined, problems: [...problems, { at: value.at, path: '', message }] };
  }
  const locations = locationsOf(value);
  const wrong = [...identityProblems(value, file, apiVersion), ...fieldProblems(value, locations)];
  const all = [...problems, ...wrong];
  return { value: without(value, all), problems: all };
}

const emptyMessage = (apiVersion: string) =>
  `the file is empty; it must at least state apiVersion: ${apiVersion} and kind: ${configKind}`;

function identityProblems(value: LocatedMap, file: string, apiVersion: string): Problem[] {
  const expected = { apiVersion, kind: configKind };
  return Object.entries(expected).flatMap(([path, wanted]): Problem[] => {
    const entry = value.entries.get(path);
    const found = entry && toPlain(entry.value);
    if (found === wanted || (path === 'apiVersion' && found === configApiVersion)) return [];
    if (entry === undefined || found === null)
      return [{ file, path, message: `must be stated; use ${wanted}` }];
    if (typeof found !== 'string') return []; // its type is a problem already
    return [{ at: entry.value.at, path, message: `"${found}" is not supported; use ${wanted}` }];
  });
}

function fieldProblems(value: LocatedMap, locations: Map<string, Location>): Problem[] {
  const findings: Findings = { unknown: [], wrong: [], zerosStay: true };
  check(toPlain(value), undefined, findings);
  const wrong = findings.wrong.filter(({ path }) => locations.get(path)?.deletes !== true);
  return [
    ...findings.unknown.map((path) => ({
      ...placeOf(locations.get(path)?.key),
      path,
      message: 'unknown field',
    })),
    ...wrong.map(({ path, message }) => ({
      ...placeOf(locations.get(path)?.value),
      path,
      message: redactMessage(path, message),
    })),
  ];
}

const placeOf = (at: Location['key'] | undefined) => (at === undefined ? {} : { at });

/** Leaves out each top-level field that has a problem, so that the rest can be checked further. */
function without(value: LocatedMap, problems: readonly Problem[]): LocatedMap {
  const bad = new Set(problems.map(({ path }) => path.split(/[.[]/, 1)[0] ?? ''));
  return mapOf(
    [...value.entries].filter(([key]) => !bad.has(key)),
    value.at,
  );
}
