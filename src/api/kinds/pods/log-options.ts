import type { Infer } from '../../schema/index.ts';
import { bool, field, int64, string, struct, time } from '../../schema/index.ts';
import { forbiddenValue, invalidValue, unsupportedValue } from '../cause.ts';
import { defineBody } from '../define.ts';
import type { Cause } from '../kind.ts';

const root = struct('PodLogOptions', {
  apiVersion: field(0, string, 'v1.'),
  kind: field(0, string, 'PodLogOptions.'),
  container: field(1, string, 'Whose log; may be left out where the pod has one container.'),
  follow: field(2, bool, 'The answer goes on with what is written until the container ends.'),
  previous: field(3, bool, 'Of the container that ended before the one that there is now.'),
  sinceSeconds: field(4, int64, 'Only what is not older; not with sinceTime.'),
  sinceTime: field(5, time, 'Only what was written from then on; not with sinceSeconds.'),
  timestamps: field(6, bool, 'When it was written stands before each line.'),
  tailLines: field(7, int64, 'Only the newest so many lines.'),
  limitBytes: field(8, int64, 'At most so many bytes, which may end within a line.'),
  insecureSkipTLSVerifyBackend: field(
    9,
    bool,
    'Has no effect: the certificate of an agent is always verified.',
  ),
  stream: field(10, string, 'All, Stdout or Stderr; the last two not with tailLines.'),
});

/** The query of a request to pods/log; it is never sent as an object. */
export interface PodLogOptions extends Infer<typeof root> {}

export const podLogOptions = defineBody<PodLogOptions>({
  group: '',
  version: 'v1',
  kind: 'PodLogOptions',
  doc: 'What is wanted of the log of a container.',
  root,
  validate,
});

const streams = ['All', 'Stdout', 'Stderr'];

function validate({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: PodLogOptions): Cause[] {
  const hasBoth = sinceSeconds !== undefined && sinceTime !== undefined;
  const isOneStream = stream !== undefined && stream !== 'All';
  return [
    ...(tailLines !== undefined && tailLines < 0
      ? [invalidValue('tailLines', tailLines, 'must be greater than or equal to 0')]
      : []),
    ...(limitBytes !== undefined && limitBytes < 1
      ? [invalidValue('limitBytes', limitBytes, 'must be greater than 0')]
      : []),
    ...(hasBoth
      ? [forbiddenValue('', 'at most one of `sinceTime` or `sinceSeconds` may be specified')]
      : sinceSeconds !== undefined && sinceSeconds < 1
        ? [invalidValue('sinceSeconds', sinceSeconds, 'must be greater than 0')]
        : []),
    ...(stream !== undefined && !streams.includes(stream)
      ? [unsupportedValue('stream', stream, streams)]
      : []),
    ...(isOneStream && streams.includes(stream) && tailLines !== undefined
      ? [forbiddenValue('', '`tailLines` and specific `stream` are mutually exclusive for now')]
      : []),
  ];
}
