import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kind } from '../../../api/index.ts';
import { encodeObject, groupName } from '../../../api/index.ts';
import type { MediaRange } from '../negotiation/accept.ts';
import { chooseOffer, covers } from '../negotiation/accept.ts';
import { mediaTypes } from '../negotiation/media-types.ts';
import { socketOf } from '../routing/request.ts';
import { aggregatedDiscovery, aggregatedKind, aggregatedVersions } from './aggregated-discovery.ts';
import type { Content } from './content.ts';
import { plainContent, sendContent } from './content.ts';
import type { GroupVersion } from './groups.ts';
import { groupVersionsOf } from './groups.ts';
import type { Described } from './legacy-discovery.ts';
import { coreVersions, discoveryDocuments } from './legacy-discovery.ts';
import type { DocumentRoute } from './route.ts';
import { versionDocument } from './version.ts';

/** The documents with which clients find out what is served; all derived from the kinds. */
export function discoveryRoutes(kinds: readonly Kind[], groupSuffix: string): DocumentRoute[] {
  const groups = groupVersionsOf(kinds, groupSuffix);
  const documents = discoveryDocuments(groups, groupSuffix);
  const core = groups.filter(({ group }) => group === '');
  const named = groups.filter(({ group }) => group !== '');
  const aggregated = new Map([
    ['/api', aggregatedContents(core, groupSuffix)],
    ['/apis', aggregatedContents(named, groupSuffix)],
  ]);
  const describe = (path: string, document: (request: FastifyRequest) => Described): DocumentRoute => ({
    path,
    respond: (request, reply) => respond(request, reply, document(request), aggregated.get(path)),
  });
  const version = plainContent('application/json', Buffer.from(JSON.stringify(versionDocument())));
  return [
    { path: '/version', open: true, respond: (request, reply) => sendContent(request, reply, version) },
    describe('/api', (request) => coreVersions(groups, addressOf(request))),
    ...[...documents].map(([path, document]) => describe(path, () => document)),
    noCustomResources,
  ];
}

/**
 * There are none, and discovery tells of no such kind. But kubectl lists them before it creates an object of a kind that
 * cannot be patched, such as a review, and gives up when it cannot; always under this name.
 */
const noCustomResources: DocumentRoute = {
  path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  respond: (request, reply) => sendContent(request, reply, noDefinitions),
};
const noDefinitions = plainContent(
  'application/json',
  Buffer.from(
    JSON.stringify({
      kind: 'CustomResourceDefinitionList',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { resourceVersion: '1' },
      items: [],
    }),
  ),
);

/** Where this client reached the server: for it this is a right address, whatever the server listens on. */
function addressOf(request: FastifyRequest): string {
  const { localAddress = '', localPort = 0 } = socketOf(request);
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/, '');
  return `${address.includes(':') ? `[${address}]` : address}:${localPort}`;
}

/** The aggregated documents of one path by group and version of their own: `apidiscovery.k8s.io/v2`. */
type Aggregated = ReadonlyMap<string, () => Content>;

/** Clients ask by the usual name of the group, whatever the suffix is here. */
function aggregatedContents(groups: readonly GroupVersion[], groupSuffix: string): Aggregated {
  const names = new Set(['apidiscovery.k8s.io', groupName('apidiscovery', groupSuffix)]);
  const found = new Map<string, () => Content>();
  const document = (apiVersion: string) =>
    Buffer.from(JSON.stringify(aggregatedDiscovery(groups, groupSuffix, apiVersion)));
  for (const group of names) {
    for (const version of aggregatedVersions) {
      const mediaType = `application/json;g=${group};v=${version};as=${aggregatedKind}`;
      let made: Content | undefined;
      found.set(`${group}/${version}`, () => {
        made ??= plainContent(mediaType, document(`${group}/${version}`));
        return made;
      });
    }
  }
  return found;
}

async function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Described,
  aggregated: Aggregated = new Map(),
): Promise<FastifyReply> {
  const offer = (range: MediaRange): Content | undefined => {
    if (range.parameters.has('as')) return aggregatedFor(range, aggregated);
    const found = [...mediaTypes].find(([mediaType]) => covers(range, mediaType));
    return found && plainContent(found[0], encodeObject(document.type, document.object, found[1]));
  };
  const content = chooseOffer(request.headers.accept, offer, [...mediaTypes.keys()]);
  return await sendContent(request, reply, content);
}

function aggregatedFor(range: MediaRange, aggregated: Aggregated): Content | undefined {
  const { parameters } = range;
  if (!covers(range, 'application/json') || parameters.get('as') !== aggregatedKind) return undefined;
  return aggregated.get(`${parameters.get('g')}/${parameters.get('v')}`)?.();
}
