import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectType } from '../../../../../src/api/kinds/index.ts';
import {
  apiVersionOf,
  deleteOptions,
  objectStruct,
  servedKinds,
  status,
} from '../../../../../src/api/kinds/index.ts';
import type { StructType } from '../../../../../src/api/schema/index.ts';

const folder = join(import.meta.dirname, '../../../../golden');

/** How the independent writer has filled an object; test/golden/README.md tells them apart. */
export type Sample = 'full' | 'zero' | 'pointers';
export const samples: readonly Sample[] = ['full', 'zero', 'pointers'];

/** What has golden files. */
export interface GoldenType {
  apiVersion: string;
  kind: string;
  root: StructType;
}

/** Our own kinds are in nobody's Go types; reference-numbers-access.ts keeps their numbers as they are. */
const publishedKinds = servedKinds.filter(({ group }) => !group.endsWith('.nodeward.io'));

/** Every kind that is served and published, what is sent as the body of another path, and what answers are made of. */
export const goldenTypes: readonly GoldenType[] = [
  ...publishedKinds.flatMap((kind) => [
    goldenType(kind),
    ...kind.subresources.flatMap(
      ({ body, connects }) => (body === undefined || connects ? [] : [goldenType(body)]), // what one connects to is sent no object
    ),
  ]),
  { apiVersion: 'v1', kind: 'Status', root: status },
  { apiVersion: 'v1', kind: 'DeleteOptions', root: deleteOptions },
  {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'PartialObjectMetadata',
    root: objectStruct('PartialObjectMetadata', {}),
  },
];

function goldenType(type: ObjectType): GoldenType {
  return { apiVersion: apiVersionOf(type, 'k8s.io'), kind: type.kind, root: type.root };
}

/** `core.v1.Pod` */
export function goldenName({ apiVersion, kind }: Pick<GoldenType, 'apiVersion' | 'kind'>): string {
  return `${apiVersion.includes('/') ? apiVersion.replace('/', '.') : `core.${apiVersion}`}.${kind}`;
}

/** The JSON and the bytes that the independent writer has made. Throws when there is no such file. */
export function readGolden(sample: Sample, name: string): { json: unknown; bytes: Uint8Array } {
  const path = join(folder, sample, name);
  return { json: JSON.parse(readFileSync(`${path}.json`, 'utf8')), bytes: readFileSync(`${path}.pb`) };
}

export function goldenNames(sample: Sample): string[] {
  return readdirSync(join(folder, sample)).flatMap((file) =>
    file.endsWith('.pb') ? [file.slice(0, -'.pb'.length)] : [],
  );
}

/** The reference's Go types: for each field its number and type; test/golden/make/shapes.go says how. */
export type Shapes = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function readShapes(): Shapes {
  const shapes: Shapes = JSON.parse(readFileSync(join(folder, 'shapes.json'), 'utf8'));
  return shapes;
}

/** The name among the shapes: `rbac.authorization.k8s.io/v1` has its Go types in rbac/v1. */
export function shapeNameOf({ apiVersion, kind }: GoldenType): string {
  const [group = '', version] = apiVersion.split('/');
  if (kind === 'Status' || kind === 'DeleteOptions') return `meta/v1.${kind}`;
  return version === undefined ? `core/${group}.${kind}` : `${group.split('.')[0]}/${version}.${kind}`;
}

/** What the reference's sources say of how a field is merged: test/golden/make/merging.go says how. */
export type Markers = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function readMarkers(): Markers {
  const markers: Markers = JSON.parse(readFileSync(join(folder, 'merging.json'), 'utf8'));
  return markers;
}
