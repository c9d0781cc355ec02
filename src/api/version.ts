/**
 * What the server and the agent say they are. `gitVersion` names the newest release of the API conventions that is
 * spoken, and this project's own version behind it.
 */
export const version = {
  nodeward: '0.1.0',
  major: '1',
  minor: '31',
  gitVersion: 'v1.31.0+nodeward-0.1.0',
} as const;
