import { version } from '../../../api/index.ts';

/** `/version` */
export function versionDocument(): object {
  return {
    major: version.major,
    minor: version.minor,
    gitVersion: version.gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
