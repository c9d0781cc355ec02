import { parseGates } from '../../api/index.ts';
import type { Entry, Located, LocatedMap, Origin } from './located.ts';
import { mapOf, scalarOf } from './located.ts';
import type { Problem } from './problems.ts';

/** What was given on the command line for fields, as text or as the value that the text means. */
export interface FlagValues {
  address?: string | undefined;
  port?: string | number | undefined;
  containerRuntimeEndpoint?: string | undefined;
  seccompDefault?: boolean | undefined;
  /** `A=true,B=false`, or the same as an object. */
  featureGates?: string | Readonly<Record<string, boolean>> | undefined;
}

/** `--container-runtime-endpoint` for containerRuntimeEndpoint. */
export function flagName(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The flags as the topmost layer. */
export function flagLayer(values: FlagValues): { layer: LocatedMap; problems: Problem[] } {
  const problems: Problem[] = [];
  const entries: [string, Entry][] = [];
  const set = (field: keyof FlagValues, read: (at: Origin) => Located | string) => {
    if (values[field] === undefined) return;
    const at: Origin = { kind: 'flag', flag: flagName(field) };
    const value = read(at);
    if (typeof value === 'string') problems.push({ at, path: field, message: value });
    else entries.push([field, { keyAt: at, value }]);
  };
  set('address', (at) => readText(values.address, at));
  set('port', (at) => readPort(values.port, at));
  set('containerRuntimeEndpoint', (at) => readText(values.containerRuntimeEndpoint, at));
  set('seccompDefault', (at) => scalarOf(values.seccompDefault === true, at));
  set('featureGates', (at) => readGates(values.featureGates, at));
  return { layer: mapOf(entries, { kind: 'flag', flag: '' }), problems };
}

const readText = (text = '', at: Origin) => (text === '' ? 'must not be empty' : scalarOf(text, at));

function readPort(port: string | number | undefined, at: Origin): Located | string {
  return /^\d{1,6}$/.test(String(port)) ? scalarOf(Number(port), at) : `"${port}" is not a port number`;
}

function readGates(gates: FlagValues['featureGates'] = '', at: Origin): Located | string {
  const entries = typeof gates === 'string' ? parseGates(gates) : Object.entries(gates);
  if (typeof entries === 'string') return entries;
  return mapOf(
    entries.map(([name, on]) => [name, { keyAt: at, value: scalarOf(on, at) }] as const),
    at,
  );
}
