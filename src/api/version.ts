/**
 * The version that server and agent report. `gitVersion` has the newest supported release of the API conventions, then
 * this project's own version.
 */
export const version = {
  nodeward: '0.1.0',
  major: '1',
  minor: '31',
  gitVersion: 'v1.31.0+nodeward-0.1.0',
} as const;
