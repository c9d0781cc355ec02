import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Served } from '../../../api/openapi/index.ts';
import { encodeSwagger2, openApi3Document, swagger2Document } from '../../../api/openapi/index.ts';
import { chooseOffer, covers } from '../negotiation/accept.ts';
import { queryOf } from '../routing/request.ts';
import type { Content } from './content.ts';
import { lazily, packedContent, plainContent, sendContent } from './content.ts';
import type { GroupVersion } from './groups.ts';
import { groupVersionsOf } from './groups.ts';
import type { DocumentRoute } from './route.ts';

const json = 'application/json';
/** Older clients ask for the first name, which is no valid media type; they are answered with the second. */
const protobufNames = [
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
] as const;

/**
 * The OpenAPI documents. They are large and seldom asked for: each is made when it is first needed, and only its packed
 * bytes stay. `compress`: whether clients that take gzip get it.
 */
export function openApiRoutes(served: Served, compress: boolean): DocumentRoute[] {
  const documents = groupVersionsOf(served.kinds, served.groupSuffix).map((each) => ({
    path: `/openapi/v3${each.path}`,
    content: lazily(() => openApi3Content(each, served, compress)),
  }));
  const index = lazily(async () => {
    const paths: Record<string, { serverRelativeURL: string }> = {};
    for (const { path, content } of documents) {
      paths[path.slice('/openapi/v3/'.length)] = { serverRelativeURL: urlOf(path, await content()) };
    }
    return plainContent(json, Buffer.from(JSON.stringify({ paths })));
  });
  return [
    { path: '/openapi/v2', respond: swagger2Responder(served, compress) },
    { path: '/openapi/v3', respond: respondInJson(index) },
    ...documents.map(({ path, content }) => ({ path, respond: respondInVersion(path, content) })),
  ];
}

async function openApi3Content({ kinds }: GroupVersion, served: Served, compress: boolean): Promise<Content> {
  return await packedContent(json, Buffer.from(JSON.stringify(openApi3Document(kinds, served))), compress);
}

/** With the hash in it, so that whoever has kept what is there need never ask again. */
function urlOf(path: string, { hash }: Content): string {
  return `${path}?hash=${hash}`;
}

type Make = () => Promise<Content>;
type Respond = DocumentRoute['respond'];

function swagger2Responder(served: Served, compress: boolean): Respond {
  const make = () => swagger2Document(served);
  const inJson = lazily(() => packedContent(json, Buffer.from(JSON.stringify(make())), compress));
  const inProtobuf = lazily(() => packedContent(protobufNames[1], encodeSwagger2(make()), compress));
  return async (request, reply) => {
    const chosen = chooseOffer(
      request.headers.accept,
      (range) => {
        if (covers(range, json)) return inJson;
        return protobufNames.some((name) => range.type === name) ? inProtobuf : undefined;
      },
      [json, ...protobufNames],
    );
    return await sendContent(request, reply, await chosen());
  };
}

function respondInJson(make: Make): Respond {
  return async (request, reply) => {
    requireJson(request);
    return await sendContent(request, reply, await make());
  };
}

function requireJson(request: FastifyRequest): void {
  chooseOffer(request.headers.accept, (range) => covers(range, json) || undefined, [json]);
}

const keptForever = 'public, max-age=31536000, immutable';

/** A document of one version: asked for by its hash it can be kept; another hash leads to the one of now. */
function respondInVersion(path: string, make: Make): Respond {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    requireJson(request);
    const content = await make();
    const wanted = queryOf(request).get('hash');
    if (!wanted) return await sendContent(request, reply, content);
    if (wanted === content.hash) return await sendContent(request, reply, content, keptForever);
    return reply.header('cache-control', 'no-cache, private').redirect(urlOf(path, content), 301);
  };
}
