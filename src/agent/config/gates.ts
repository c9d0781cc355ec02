type Stage = 'alpha' | 'beta' | 'stable';

interface Gate {
  readonly stage: Stage;
  readonly byDefault: boolean;
}

/** The feature gates this agent knows. */
const gates = {
  /** POST /checkpoint/…, specification 4.11. */
  ContainerCheckpoint: { stage: 'beta', byDefault: true },
} as const satisfies Record<string, Gate>;

export type FeatureGate = keyof typeof gates;
export type FeatureGates = Readonly<Record<FeatureGate, boolean>>;

/** Names that stand for all gates of a stage that are not stated themselves. */
const groups: Readonly<Record<string, Stage>> = { AllAlpha: 'alpha', AllBeta: 'beta' };

export const gateNames: readonly string[] = [...Object.keys(gates), ...Object.keys(groups)];

/** The state of every gate, after what was asked for. Unknown names are left to validation. */
export function resolveGates(asked: Readonly<Record<string, boolean>>): FeatureGates {
  const resolve = (name: FeatureGate) => {
    const { stage, byDefault } = gates[name];
    const group = Object.entries(groups).find(([, of]) => of === stage)?.[0];
    return asked[name] ?? (group === undefined ? undefined : asked[group]) ?? byDefault;
  };
  return Object.freeze({ ContainerCheckpoint: resolve('ContainerCheckpoint') });
}

const words = new Map<string, boolean>([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
]);

/** Reads `A=true,B=false`; gives a message for what is none of that. */
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
