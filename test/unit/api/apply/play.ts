import type { ApiObject, Kind } from '../../../../src/api/index.ts';
import {
  ApplyConflictError,
  applyConfiguration,
  isRecord,
  PatchError,
  servedKinds,
  trackUpdate,
} from '../../../../src/api/index.ts';
import { checkerOf } from '../../../../src/api/schema/index.ts';

/* Plays the scenarios of test/golden/apply; see the README there. */

export interface Scenario {
  name: string;
  apiVersion: string;
  kind: string;
  steps: Step[];
}

export interface Step {
  by: string;
  apply?: Content;
  update?: Content;
  merge?: Content;
  force?: boolean;
  through?: string;
}

export interface Outcome {
  error?: string;
  object?: Content;
  managers?: Manager[];
}

export interface Manager {
  manager: string;
  operation: string;
  apiVersion: string;
  subresource?: string;
  step: number;
  fields: Content;
}

export type Content = Record<string, unknown>;

const start = Date.parse('2020-01-01T00:00:00Z');

/** RFC 3339; a step is a second later than the one before. */
export function timeOf(step: number): string {
  return new Date(start + step * 1000).toISOString().replace('.000', '');
}

export function kindOf(name: string): Kind {
  const kind = servedKinds.find((served) => served.kind === name);
  if (kind === undefined) throw new Error(`no kind ${name}`);
  return kind;
}

/** What there is after each step. */
export function play(scenario: Scenario): Outcome[] {
  const kind = kindOf(scenario.kind);
  let live: ApiObject | undefined;
  return scenario.steps.map((step, index) => {
    try {
      live = written(kind, scenario.apiVersion, live, step, timeOf(index + 1));
    } catch (error) {
      if (error instanceof ApplyConflictError || error instanceof PatchError) return { error: error.message };
      throw error;
    }
    return shown(live);
  });
}

function written(
  kind: Kind,
  apiVersion: string,
  live: ApiObject | undefined,
  step: Step,
  now: string,
): ApiObject {
  const writer = { manager: step.by, apiVersion, subresource: step.through ?? '' };
  if (step.apply !== undefined) {
    const configuration = whole(scenarioType(kind, apiVersion), structuredClone(step.apply));
    const options = { force: step.force ?? false, now };
    return applyConfiguration(kind.root, live, configuration, { ...writer, operation: 'Apply' }, options);
  }
  const content = step.update ?? merge(contentOf(live), step.merge ?? {});
  const next = decoded(kind, whole(scenarioType(kind, apiVersion), structuredClone(content)));
  const given = next.metadata?.managedFields;
  const by = { ...writer, operation: 'Update' as const };
  const managedFields = trackUpdate(kind.root, live, next, given, by, now);
  const { managedFields: _, ...metadata } = next.metadata ?? {};
  return { ...next, metadata: { ...metadata, ...(managedFields && { managedFields }) } };
}

interface ScenarioType {
  apiVersion: string;
  kind: string;
}

function scenarioType({ kind }: Kind, apiVersion: string): ScenarioType {
  return { apiVersion, kind };
}

/** What every object has is left out of scenarios. */
function whole(type: ScenarioType, content: Content): ApiObject {
  const metadata = isRecord(content['metadata']) ? content['metadata'] : {};
  return { ...content, ...type, metadata: { name: 'x', namespace: 'default', ...metadata } };
}

/** The object as it comes out of the decoder. */
export function decoded<T extends ApiObject>(kind: Kind, object: T): T {
  const findings = { unknown: [], wrong: [] };
  const result = checkerOf(kind.root)(structuredClone(object), undefined, findings);
  if (findings.unknown.length + findings.wrong.length > 0) throw new Error(JSON.stringify(findings));
  return Object.assign({}, result as T);
}

function contentOf(live: ApiObject | undefined): Content {
  return { ...live };
}

/** RFC 7386. */
function merge(into: Content, patch: Content): Content {
  const result = { ...into };
  for (const [name, value] of Object.entries(patch)) {
    const below = result[name];
    if (value === null) delete result[name];
    else result[name] = isRecord(value) ? merge(isRecord(below) ? below : {}, value) : value;
  }
  return result;
}

function shown(live: ApiObject): Outcome {
  const { managedFields = [], name: _name, namespace: _namespace, ...metadata } = live.metadata ?? {};
  return {
    object: { ...live, metadata },
    managers: managedFields.map((entry) => ({
      manager: entry.manager ?? '',
      operation: entry.operation ?? '',
      apiVersion: entry.apiVersion ?? '',
      ...(entry.subresource === undefined ? {} : { subresource: entry.subresource }),
      step: entry.time === undefined ? 0 : (Date.parse(entry.time) - start) / 1000,
      fields: { ...entry.fieldsV1 },
    })),
  };
}
