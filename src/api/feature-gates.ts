import { referenceGates } from './reference-gates.ts';

type Stage = 'alpha' | 'beta' | 'stable';

interface Gate {
  readonly stage: Stage;
  readonly byDefault: boolean;
  /** The release in which it reached this stage, where that is known. */
  readonly since?: string;
  /** The feature is part of the service for good: the gate can no longer be switched. */
  readonly locked?: true;
  /** The program that has the feature. */
  readonly part: 'agent' | 'apiserver' | 'both';
}

/** Every feature gate (specification, section 9), of the control plane and of the agent. */
export const featureGates = {
  APIListChunking: { stage: 'stable', byDefault: true, since: '1.29', locked: true, part: 'apiserver' },
  APIResponseCompression: { stage: 'beta', byDefault: true, since: '1.16', part: 'apiserver' },
  AuthorizeWithSelectors: { stage: 'alpha', byDefault: false, part: 'apiserver' },
  ContainerCheckpoint: { stage: 'beta', byDefault: true, since: '1.30', part: 'agent' },
  DryRun: { stage: 'stable', byDefault: true, since: '1.19', locked: true, part: 'apiserver' },
  InPlacePodVerticalScaling: { stage: 'alpha', byDefault: false, since: '1.27', part: 'both' },
  /** Not one of the reference, where another program serves metrics.k8s.io. */
  ResourceMetricsAPI: { stage: 'beta', byDefault: true, part: 'apiserver' },
  ServerSideFieldValidation: {
    stage: 'stable',
    byDefault: true,
    since: '1.27',
    locked: true,
    part: 'apiserver',
  },
  /** The specification has it as alpha and off; client-go has asked for it by default since 1.35 (docs/api.md). */
  WatchList: { stage: 'beta', byDefault: true, since: '1.27', part: 'apiserver' },
} as const satisfies Record<string, Gate>;

export type FeatureGate = keyof typeof featureGates;
/** Whether each feature is on. */
export type FeatureGates = Readonly<Record<FeatureGate, boolean>>;
/** The requested states, by name of a gate or a group. */
export type AskedGates = Readonly<Record<string, boolean>>;

/** Group names: each sets all gates of a stage that are not set by their own names. */
const groups: Readonly<Record<string, Stage>> = { AllAlpha: 'alpha', AllBeta: 'beta' };

const table: ReadonlyMap<string, Gate> = new Map(Object.entries(featureGates));

/** Every name that can be set. */
export const gateNames: readonly string[] = [...table.keys(), ...Object.keys(groups)];

/** Why a gate cannot be set so: it is unknown, or locked to the other state. Undefined when it can. */
export function findGateProblem(name: string, on: boolean): string | undefined {
  if (Object.hasOwn(groups, name)) return undefined;
  const gate = table.get(name);
  if (gate === undefined) {
    return `there is no feature gate ${JSON.stringify(name)}; there are ${gateNames.join(', ')}`;
  }
  if (gate.locked !== true || on === gate.byDefault) return undefined;
  return `cannot set feature gate ${name} to ${on}: it is locked to ${gate.byDefault}`;
}

/** The same for what may have been written for the reference: its gates that have no effect here can be set. */
export function findForeignGateProblem(name: string, on: boolean): string | undefined {
  return hasNoEffect(name) ? undefined : findGateProblem(name, on);
}

/** Whether it is a gate of the reference for a feature that is not here, or not switched. */
export function hasNoEffect(gate: string): boolean {
  return !table.has(gate) && referenceGates.has(gate);
}

/** The state of every gate; unknown names are ignored. */
export function resolveGates(asked: AskedGates): FeatureGates {
  const resolve = (name: FeatureGate) => {
    const { stage, byDefault, ...gate }: Gate = featureGates[name];
    if (gate.locked) return byDefault;
    const group = Object.keys(groups).find((known) => groups[known] === stage);
    return asked[name] ?? (group === undefined ? undefined : asked[group]) ?? byDefault;
  };
  return Object.freeze({
    APIListChunking: resolve('APIListChunking'),
    APIResponseCompression: resolve('APIResponseCompression'),
    AuthorizeWithSelectors: resolve('AuthorizeWithSelectors'),
    ContainerCheckpoint: resolve('ContainerCheckpoint'),
    DryRun: resolve('DryRun'),
    InPlacePodVerticalScaling: resolve('InPlacePodVerticalScaling'),
    ResourceMetricsAPI: resolve('ResourceMetricsAPI'),
    ServerSideFieldValidation: resolve('ServerSideFieldValidation'),
    WatchList: resolve('WatchList'),
  });
}

/** The requested gates without those that only the agent has, or that have no effect. */
export function apiServerGates(asked: AskedGates): AskedGates {
  return Object.fromEntries(
    Object.entries(asked).filter(([name]) => table.get(name)?.part !== 'agent' && !hasNoEffect(name)),
  );
}

const words = new Map<string, boolean>([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
]);

/** Parses `A=true,B=false`; returns a message when the text is malformed. */
export function parseGates(text: string): (readonly [string, boolean])[] | string {
  const gates: (readonly [string, boolean])[] = [];
  for (const part of text.split(',').map((piece) => piece.trim())) {
    if (part === '') continue;
    const [name = '', word, ...rest] = part.split('=').map((piece) => piece.trim());
    const on = word === undefined || rest.length > 0 ? undefined : words.get(word);
    if (name === '' || on === undefined) return `"${part}" is not of the form NAME=true or NAME=false`;
    gates.push([name, on]);
  }
  return gates;
}
