import { string } from '../../api/schema/index.ts';
import type { Reserved } from '../node/index.ts';
import type { ReservedGroup } from '../resources/index.ts';
import type { Fields, Settings } from './field.ts';
import { keyAmong, list, listOf, map, quote, readQuantity, text, textOf } from './field-types.ts';
import type { LocatedMap } from './located.ts';
import { toPlain } from './located.ts';
import type { Problem } from './problems.ts';

/* What is kept from pods, and for whom it is enforced. The names and defaults are the reference's. */

const reservable = ['cpu', 'memory', 'ephemeral-storage', 'pid'] as const;

const amounts = {
  range: '`cpu`, `memory`, `ephemeral-storage`, `pid`',
  checkKey: keyAmong(reservable),
  checkEntry: (plain: unknown) =>
    (readQuantity(plain) ?? -1) >= 0 ? undefined : `must be a quantity from 0 on, not ${quote(plain)}`,
  readEntries: (entries: Readonly<Record<string, unknown>>) => entries,
};

const enforceable = [
  'pods',
  'system-reserved',
  'kube-reserved',
  'system-reserved-compressible',
  'kube-reserved-compressible',
  'none',
];

const cgroup = {
  range: 'a path in the tree of cgroups, or the name of a slice',
  needsRestart: true,
  check: (plain: unknown) => {
    const parts = textOf(plain)
      .split('/')
      .filter((part) => part !== '');
    return parts.length > 0 && parts.every((part) => !/^\.{1,2}$/.test(part))
      ? undefined
      : `${quote(plain)} is no cgroup below that of the machine, such as /system.slice`;
  },
};

export const reservedFields = {
  systemReserved: map(undefined, {
    ...amounts,
    doc: 'What is kept from pods for the system; it is not allocatable. `pid`: processes and threads, of which all pods together get the rest.',
    example: '{cpu: 500m, memory: 1Gi}',
  }),
  kubeReserved: map(undefined, { ...amounts, doc: 'The same for the agents of the node.' }),
  enforceNodeAllocatable: list(string, (items) => items.map(textOf), {
    doc: 'Who is held to these amounts by a cgroup ([pods.md](pods.md#what-is-reserved)). `pods`: all pods together, to what is not reserved. `system-reserved`, `kube-reserved`: the groups of the two fields below, to what is reserved for them; with `-compressible`, to its `cpu` alone. `none`: nobody.',
    range: enforceable.map((each) => `\`${each}\``).join(', '),
    default: ['pods'],
    needsRestart: true,
    check(plain) {
      const stated = listOf(plain);
      const strange = stated.find((each) => !enforceable.includes(textOf(each)));
      if (strange !== undefined) return `${quote(strange)} is not one of ${enforceable.join(', ')}`;
      return stated.includes('none') && stated.length > 1 ? 'none cannot be beside others' : undefined;
    },
  }),
  systemReservedCgroup: text({
    ...cgroup,
    doc: 'The cgroup of the system, where `system-reserved` is enforced. It must exist when the agent starts.',
    example: '/system.slice',
  }),
  kubeReservedCgroup: text({
    ...cgroup,
    doc: 'The cgroup of the agents of the node, where `kube-reserved` is enforced. It must exist when the agent starts.',
    example: '/podruntime.slice',
  }),
} as const satisfies Fields;

type ReservedSettings = Settings<typeof reservedFields>;

/** Both reservations together. */
export function sumReserved({ systemReserved, kubeReserved }: ReservedSettings): Reserved {
  const sum = (resource: (typeof reservable)[number], unit = 1) =>
    [systemReserved, kubeReserved]
      .map((amount) => amountIn(amount, resource, unit) ?? 0)
      .reduce((a, b) => a + b, 0);
  return Object.freeze({
    cpuMillis: sum('cpu', 1000),
    memoryBytes: sum('memory'),
    storageBytes: sum('ephemeral-storage'),
    pids: sum('pid'),
  });
}

/** Who is held to what by cgroups. */
export interface Enforcement {
  /** All pods together, to what is not reserved. */
  readonly pods: boolean;
  readonly groups: readonly ReservedGroup[];
}

const sides = [
  { side: 'system', amountsField: 'systemReserved', cgroupField: 'systemReservedCgroup' },
  { side: 'kube', amountsField: 'kubeReserved', cgroupField: 'kubeReservedCgroup' },
] as const;

export function toEnforcement(values: ReservedSettings): Enforcement {
  const enforced = new Set(values.enforceNodeAllocatable);
  const groups = sides.flatMap(({ side, amountsField, cgroupField }): ReservedGroup[] => {
    const [isWhole, isCompressible] = [`${side}-reserved`, `${side}-reserved-compressible`].map((name) =>
      enforced.has(name),
    );
    if (!isWhole && !isCompressible) return [];
    const amountOf = (resource: (typeof reservable)[number], unit = 1) =>
      amountIn(values[amountsField], resource, unit);
    const cpuMillis = amountOf('cpu', 1000);
    const rest = isWhole ? { memoryBytes: amountOf('memory'), pids: amountOf('pid') } : {};
    return [{ side, isCompressible: !isWhole, cgroup: values[cgroupField], cpuMillis, ...rest }];
  });
  return Object.freeze({ pods: enforced.has('pods'), groups });
}

/** Rounded up; undefined where it is not stated. */
function amountIn(
  stated: Readonly<Record<string, unknown>>,
  resource: string,
  unit: number,
): number | undefined {
  return stated[resource] === undefined
    ? undefined
    : Math.ceil((readQuantity(textOf(stated[resource])) ?? 0) * unit);
}

/** What is enforced needs a group and an amount, and only one of the two ways; as in the reference. */
export function checkEnforcement(merged: LocatedMap): Problem[] {
  const path = 'enforceNodeAllocatable';
  const stated = merged.entries.get(path)?.value;
  if (stated === undefined) return [];
  const enforced = listOf(toPlain(stated));
  const problem = (message: string): Problem => ({ at: stated.at, path, message });
  const problems = sides.flatMap(({ side, amountsField, cgroupField }) => {
    const names = [`${side}-reserved`, `${side}-reserved-compressible`];
    const [name] = names.filter((each) => enforced.includes(each));
    if (name === undefined) return [];
    return [
      ...(names.every((each) => enforced.includes(each))
        ? [problem(`has both ${names.join(' and ')}: leave out one of the two`)]
        : []),
      ...(merged.entries.has(cgroupField) ? [] : [problem(`${name} needs ${cgroupField}`)]),
      ...(isEmptyAt(merged, amountsField)
        ? [problem(`${name} needs ${amountsField}, which says how much`)]
        : []),
    ];
  });
  return [...problems, ...checkGroups(merged, enforced)];
}

function isEmptyAt(merged: LocatedMap, name: string): boolean {
  const value = merged.entries.get(name)?.value;
  return value === undefined || Object.keys(Object(toPlain(value))).length === 0;
}

/** One group cannot be held to both amounts. */
function checkGroups(merged: LocatedMap, enforced: readonly unknown[]): Problem[] {
  const isEnforced = ({ side }: (typeof sides)[number]) =>
    enforced.some((each) => textOf(each).startsWith(`${side}-reserved`));
  const groups = sides.filter(isEnforced).map(({ cgroupField }) => merged.entries.get(cgroupField)?.value);
  const [system, kube] = groups.map(
    (value) => value && textOf(toPlain(value)).split('/').filter(Boolean).join('/'),
  );
  if (kube === undefined || system !== kube) return [];
  const message = 'must be another cgroup than systemReservedCgroup: one cannot be held to both amounts';
  const at = groups[1]?.at;
  return [{ ...(at === undefined ? {} : { at }), path: 'kubeReservedCgroup', message }];
}
