import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Served } from '../../../api/openapi/index.ts';
import { encodeSwagger2, openApi3Document, swagger2Document } from '../../../api/openapi/index.ts';
import { chooseOffer, covers } from '../negotiation/accept.ts';
import { queryOf } from '../routing/request.ts';
import type { Content } from './content.ts';
import { createContent, createPackedContent, memoize, sendContent } from './content.ts';
import type { GroupVersion } from './groups.ts';
import { listGroupVersions } from './groups.ts';
import type { DocumentRoute } from './route.ts';

const json = 'application/json';
/** Older clients request the first name, which is not a valid media type; the response has the second. */
const protobufNames = [
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
] as const;

/**
 * The OpenAPI documents. They are large and rarely requested: each is made when it is first needed, and only its packed
 * bytes stay. `compress`: whether clients that accept gzip get it.
 */
export function createOpenApiRoutes(served: Served, compress: boolean): DocumentRoute[] {
  const documents = listGroupVersions(served.kinds, served.groupSuffix).map((each) => ({
    path: `/openapi/v3${each.path}`,
    content: memoize(() => createOpenApi3Content(each, served, compress)),
  }));
  const index = memoize(async () => {
    const paths: Record<string, { serverRelativeURL: string }> = {};
    for (const { path, content } of documents) {
      paths[path.slice('/openapi/v3/'.length)] = { serverRelativeURL: urlOf(path, await content()) };
    }
    return createContent(json, Buffer.from(JSON.stringify({ paths })));
  });
  return [
    { path: '/openapi/v2', respond: createSwagger2Responder(served, compress) },
    { path: '/openapi/v3', respond: respondInJson(index) },
    ...documents.map(({ path, content }) => ({ path, respond: respondInVersion(path, content) })),
  ];
}

async function createOpenApi3Content(
  { kinds }: GroupVersion,
  served: Served,
  compress: boolean,
): Promise<Content> {
  return await createPackedContent(
    json,
    Buffer.from(JSON.stringify(openApi3Document(kinds, served))),
    compress,
  );
}

/** An address with the hash in it, so that a client that has the document never has to request it again. */
function urlOf(path: string, { hash }: Content): string {
  return `${path}?hash=${hash}`;
}

type Make = () => Promise<Content>;
type Respond = DocumentRoute['respond'];

function createSwagger2Responder(served: Served, compress: boolean): Respond {
  const make = () => swagger2Document(served);
  const inJson = memoize(() => createPackedContent(json, Buffer.from(JSON.stringify(make())), compress));
  const inProtobuf = memoize(() => createPackedContent(protobufNames[1], encodeSwagger2(make()), compress));
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

const immutableCaching = 'public, max-age=31536000, immutable';

/** Serves one document: when requested by its hash, it may be cached forever; another hash is redirected to the current one. */
function respondInVersion(path: string, make: Make): Respond {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    requireJson(request);
    const content = await make();
    const wanted = queryOf(request).get('hash');
    if (!wanted) return await sendContent(request, reply, content);
    if (wanted === content.hash) return await sendContent(request, reply, content, immutableCaching);
    return reply.header('cache-control', 'no-cache, private').redirect(urlOf(path, content), 301);
  };
}
