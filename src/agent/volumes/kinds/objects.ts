import { namespaceOf } from '../../downward/index.ts';
import { madeOfFiles } from './made-of-files.ts';
import { configMapFiles, secretFiles } from './object-files.ts';

/** The values of a ConfigMap as files on the disk of the root folder. */
export const configMap = madeOfFiles({
  plugin: 'kubernetes.io~configmap',
  isInMemory: false,
  async collect({ pod, source }, tools) {
    const { name = '', defaultMode, ...rest } = source.configMap ?? {};
    return configMapFiles(namespaceOf(pod), { name, ...rest }, defaultMode, tools);
  },
});

/** The values of a Secret as files in memory. */
export const secret = madeOfFiles({
  plugin: 'kubernetes.io~secret',
  isInMemory: true,
  async collect({ pod, source }, tools) {
    const { secretName: name = '', defaultMode, ...rest } = source.secret ?? {};
    return secretFiles(namespaceOf(pod), { name, ...rest }, defaultMode, tools);
  },
});
