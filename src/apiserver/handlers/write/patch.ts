import type { ApiObject } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import { answerWith, formatObject, wantedObject } from '../own-form.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { apply } from './apply.ts';
import { applyPatch } from './apply-patch.ts';
import { readPatchOptions } from './patch-options.ts';
import { readPatch } from './read-patch.ts';

/**
 * PATCH to an object or to one of its subresources (specification, section 4.10). The patch is applied again when
 * another write comes in between, unless it names the resourceVersion that it is meant for.
 */
export async function patch(request: ApiRequest): Promise<Answer> {
  if (request.patch === undefined) throw new Error('a patch came to its handler without its body');
  const { format, body } = request.patch;
  if (format === 'apply') return await apply(request, body);
  const { resource, namespace, name, subresource, user } = request;
  const { dryRun, manager, fieldValidation } = readPatchOptions(request);
  const given = readPatch(format, body);
  const said: string[] = [];
  let complaints: readonly string[] = []; // about the last state that it was applied to
  const make = (stored: ApiObject): ApiObject => {
    const patched = applyPatch(request, given, formatObject(request, stored));
    complaints = [...given.complaints, ...patched.complaints];
    if (fieldValidation === 'Strict' && complaints.length > 0) {
      throw new StatusError('BadRequest', `strict decoding error: ${complaints.join(', ')}`);
    }
    if (fieldValidation === 'Warn') request.complain?.(complaints);
    return wantedObject(request, stored, patched.object);
  };
  const context = { user, dryRun, manager, warn: (text: string) => void said.push(text) };
  const stored = await resource.change(
    { namespace, name },
    { make, operation: 'Update' },
    subresource,
    context,
  );
  const warnings = fieldValidation === 'Warn' ? [...complaints, ...said] : said;
  return answerWith(request, stored, 200, warnings);
}
