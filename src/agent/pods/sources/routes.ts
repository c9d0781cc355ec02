import type { AgentRoute } from '../../server/index.ts';
import { sendJson } from '../../server/index.ts';
import { annotationOf, fullName, hashAnnotation } from '../names.ts';
import type { StaticPods } from './static-pods.ts';
import type { Verdict } from './verdicts.ts';

/** `GET /staticpods`: the folder of manifests and the verdict on each file in it. */
export function staticPodRoutes(statics: StaticPods | undefined): readonly AgentRoute[] {
  const answer =
    statics === undefined
      ? () => ({ folder: '', manifests: [] })
      : () => {
          const problem = statics.problem();
          return {
            folder: statics.folder,
            ...(problem === undefined ? {} : { problem }),
            manifests: statics.verdicts().map(toJson),
          };
        };
  return [
    {
      path: '/staticpods',
      subresource: 'pods',
      methods: { GET: ({ reply }) => sendJson(reply, 200, answer()) },
    },
  ];
}

function toJson({ pod, ...verdict }: Verdict) {
  if (pod === undefined) return verdict;
  return { ...verdict, pod: fullName(pod), hash: annotationOf(pod, hashAnnotation) };
}

/** How many names of files are listed in the line. */
const maxNames = 5;

/** For `/statusz`. */
export function formatStaticPods(statics: StaticPods | undefined): string {
  if (statics === undefined) return 'none: staticPodPath is empty';
  const verdicts = statics.verdicts().filter(({ state }) => state !== 'ignored');
  const wrong = verdicts.filter(({ state }) => state === 'invalid' || state === 'duplicate');
  const fileNames = wrong
    .slice(0, maxNames)
    .map(({ file }) => (/[^\x21-\x7e]/.test(file) ? JSON.stringify(file) : file));
  const more = wrong.length > maxNames ? ` and ${wrong.length - maxNames} more` : '';
  const rejected = wrong.length === 0 ? '' : `, not accepted: ${fileNames.join(' ')}${more}`;
  const problem = statics.problem();
  return `${statics.pods().length} of ${verdicts.length} manifests in ${statics.folder}${rejected}${problem === undefined ? '' : `; ${problem}`}`;
}
