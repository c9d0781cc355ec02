import type { Answer, ApiRequest } from '../request.ts';
import { createChunkMeta, readChunk } from './list-chunk.ts';
import { readListOptions } from './list-options.ts';

/** GET of a collection, or of a chunk of it: all of it in one state (specification, sections 4.6 and 4.7). */
export async function list(request: ApiRequest): Promise<Answer> {
  const chunk = await readChunk(request, readListOptions(request));
  return { form: 'list', code: 200, items: chunk.items, metadata: createChunkMeta(request, chunk) };
}
