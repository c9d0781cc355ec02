import type { Pod } from '../../api/index.ts';
import {
  DecodeError,
  decodeValue,
  isRecord,
  JsonError,
  loadYamlReader,
  parseJson,
  podKind,
  YamlError,
} from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';
import { inputName, readInput } from './input.ts';

const limitBytes = 3 * 1024 * 1024;

/** The pods in a file of YAML or JSON, which may have several documents; throws an ExitError where there are none. */
export async function readPods(file: string, context: CommandContext): Promise<Pod[]> {
  const text = Buffer.from(await readInput(file, limitBytes, context)).toString('utf8');
  try {
    const values = (await valuesIn(text)).filter((value) => isRecord(value) && value['kind'] === 'Pod');
    if (values.length > 0) return values.map((value) => decodeValue(podKind, 'v1', value).object);
  } catch (error) {
    if (!(error instanceof YamlError || error instanceof JsonError || error instanceof DecodeError))
      throw error;
    throw new ExitError(exitCodes.failed, `${inputName(file)}: ${error.message}`);
  }
  throw new ExitError(exitCodes.failed, `${inputName(file)} has no Pod in it`);
}

async function valuesIn(text: string): Promise<unknown[]> {
  if (text.trimStart().startsWith('{')) return [parseJson(text).value];
  const read = await loadYamlReader();
  const parts = text.split(/^---(?=\s|$)/m).filter((part) => part.replaceAll(/^\s*#.*$/gm, '').trim() !== '');
  return parts.map((part) => read(part).value);
}
