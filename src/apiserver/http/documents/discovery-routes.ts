import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kind } from '../../../api/index.ts';
import { encodeObject, groupName, version } from '../../../api/index.ts';
import type { Build } from '../../../base/index.ts';
import { readBuild } from '../../../base/index.ts';
import type { MediaRange } from '../negotiation/accept.ts';
import { chooseOffer, covers } from '../negotiation/accept.ts';
import { mediaTypes } from '../negotiation/media-types.ts';
import { socketOf } from '../routing/request.ts';
import { aggregatedKind, aggregatedVersions, createAggregatedDiscovery } from './aggregated-discovery.ts';
import type { Content } from './content.ts';
import { createContent, sendContent } from './content.ts';
import type { GroupVersion } from './groups.ts';
import { listGroupVersions } from './groups.ts';
import type { DiscoveryDocument } from './legacy-discovery.ts';
import { createDiscoveryDocuments, describeCoreVersions } from './legacy-discovery.ts';
import type { DocumentRoute } from './route.ts';

/** The documents by which clients discover what is served; all derived from the kinds. */
export function createDiscoveryRoutes(kinds: readonly Kind[], groupSuffix: string): DocumentRoute[] {
  const groups = listGroupVersions(kinds, groupSuffix);
  const documents = createDiscoveryDocuments(groups, groupSuffix);
  const core = groups.filter(({ group }) => group === '');
  const named = groups.filter(({ group }) => group !== '');
  const aggregated = new Map([
    ['/api', createAggregatedContents(core, groupSuffix)],
    ['/apis', createAggregatedContents(named, groupSuffix)],
  ]);
  const describe = (
    path: string,
    document: (request: FastifyRequest) => DiscoveryDocument,
  ): DocumentRoute => ({
    path,
    respond: (request, reply) => respond(request, reply, document(request), aggregated.get(path)),
  });
  let versionContent: Content | undefined; // made when it is asked for: the build has to be read
  return [
    {
      path: '/version',
      open: true,
      respond: (request, reply) => {
        versionContent ??= createContent(
          'application/json',
          Buffer.from(JSON.stringify(describeVersion(readBuild()))),
        );
        return sendContent(request, reply, versionContent);
      },
    },
    describe('/api', (request) => describeCoreVersions(groups, addressOf(request))),
    ...[...documents].map(([path, document]) => describe(path, () => document)),
    noCustomResources,
  ];
}

/** `/version`. Clients take an empty commit or date for an unknown one. */
function describeVersion({ commit, date }: Build): object {
  const known = (text: string) => (text === 'unknown' ? '' : text);
  return {
    major: version.major,
    minor: version.minor,
    gitVersion: version.gitVersion,
    gitCommit: known(commit),
    gitTreeState: '',
    buildDate: known(date),
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}

/**
 * An empty list of CustomResourceDefinitions, which do not exist here and are not in discovery. kubectl requests exactly
 * this path before it creates an object of a kind that cannot be patched, such as a review, and fails without an answer.
 */
const noCustomResources: DocumentRoute = {
  path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  respond: (request, reply) => sendContent(request, reply, noDefinitions),
};
const noDefinitions = createContent(
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

/** The address at which this client reached the server: correct for this client, whatever the server listens on. */
function addressOf(request: FastifyRequest): string {
  const { localAddress = '', localPort = 0 } = socketOf(request);
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/, '');
  return `${address.includes(':') ? `[${address}]` : address}:${localPort}`;
}

/** The aggregated documents of one path, by the group and version of the document: `apidiscovery.k8s.io/v2`. */
type Aggregated = ReadonlyMap<string, () => Content>;

/** Clients request the usual name of the group, whatever the group suffix of this server is. */
function createAggregatedContents(groups: readonly GroupVersion[], groupSuffix: string): Aggregated {
  const names = new Set(['apidiscovery.k8s.io', groupName('apidiscovery', groupSuffix)]);
  const found = new Map<string, () => Content>();
  const document = (apiVersion: string) =>
    Buffer.from(JSON.stringify(createAggregatedDiscovery(groups, groupSuffix, apiVersion)));
  for (const group of names) {
    for (const version of aggregatedVersions) {
      const mediaType = `application/json;g=${group};v=${version};as=${aggregatedKind}`;
      let made: Content | undefined;
      found.set(`${group}/${version}`, () => {
        made ??= createContent(mediaType, document(`${group}/${version}`));
        return made;
      });
    }
  }
  return found;
}

async function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  document: DiscoveryDocument,
  aggregated: Aggregated = new Map(),
): Promise<FastifyReply> {
  const offer = (range: MediaRange): Content | undefined => {
    if (range.parameters.has('as')) return findAggregated(range, aggregated);
    const found = [...mediaTypes].find(([mediaType]) => covers(range, mediaType));
    return found && createContent(found[0], encodeObject(document.type, document.object, found[1]));
  };
  const content = chooseOffer(request.headers.accept, offer, [...mediaTypes.keys()]);
  return await sendContent(request, reply, content);
}

function findAggregated(range: MediaRange, aggregated: Aggregated): Content | undefined {
  const { parameters } = range;
  if (!covers(range, 'application/json') || parameters.get('as') !== aggregatedKind) return undefined;
  return aggregated.get(`${parameters.get('g')}/${parameters.get('v')}`)?.();
}
