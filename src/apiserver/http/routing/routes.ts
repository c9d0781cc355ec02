import type { Verb } from '../../../api/index.ts';
import { groupName, withoutGated } from '../../../api/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';

/** A path pattern of a resource, with the verb of each method on it. */
export interface Route {
  resource: Resource;
  /** With `:namespace` and `:name`. */
  pattern: string;
  /** Which of these placeholders the pattern has. */
  places: { namespace: boolean; name: boolean };
  subresource: string;
  collection: boolean;
  /** The verb of each method that is served; GET on a collection is `list` or, with the parameter, `watch`. */
  methods: ReadonlyMap<string, Verb>;
}

const itemMethods: readonly [string, Verb][] = [
  ['GET', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
];
const subresourceMethods: readonly [string, Verb][] = [...itemMethods, ['POST', 'create']];
const collectionMethods: readonly [string, Verb][] = [
  ['GET', 'list'],
  ['POST', 'create'],
  ['DELETE', 'deletecollection'],
];
const allNamespacesMethods: readonly [string, Verb][] = [['GET', 'list']];

/** Every path of the API, derived from the kinds (specification, section 4.3). */
export function listRoutes(registry: Registry): Route[] {
  return registry.resources.flatMap((resource) => {
    const { kind } = resource;
    const group = groupName(kind.group, registry.groupSuffix);
    const base = group === '' ? `/api/${kind.version}` : `/apis/${group}/${kind.version}`;
    const own = kind.namespaced
      ? `${base}/namespaces/:namespace/${kind.resource}`
      : `${base}/${kind.resource}`;
    const item = `${own}/:name`;
    const routes: Route[] = [
      createRoute(resource, own, '', true, selectServed(collectionMethods, kind.verbs)),
      createRoute(resource, item, '', false, selectServed(itemMethods, kind.verbs)),
    ];
    if (kind.namespaced) {
      routes.push(
        createRoute(
          resource,
          `${base}/${kind.resource}`,
          '',
          true,
          selectServed(allNamespacesMethods, kind.verbs),
        ),
      );
    }
    for (const part of withoutGated(kind, registry.gates).subresources.filter(({ connects }) => !connects)) {
      routes.push(
        createRoute(
          resource,
          `${item}/${part.name}`,
          part.name,
          false,
          selectServed(subresourceMethods, part.verbs),
        ),
      );
    }
    return routes.filter(({ methods }) => methods.size > 0);
  });
}

function createRoute(
  resource: Resource,
  pattern: string,
  subresource: string,
  collection: boolean,
  methods: ReadonlyMap<string, Verb>,
): Route {
  const places = { namespace: hasPlaceholder(pattern, 'namespace'), name: hasPlaceholder(pattern, 'name') };
  return { resource, pattern, places, subresource, collection, methods };
}

function hasPlaceholder(pattern: string, place: string): boolean {
  return `${pattern}/`.includes(`/:${place}/`);
}

function selectServed(methods: readonly [string, Verb][], verbs: readonly Verb[]): Map<string, Verb> {
  return new Map(methods.filter(([, verb]) => verbs.includes(verb)));
}
