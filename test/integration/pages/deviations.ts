/** What differs from running a block as it stands, to its end. */
export interface Deviation {
  /** Why it is not run at all. */
  readonly notRun?: string;
  /** Words of the page that stand for others, and what is put in their place. */
  readonly words?: Readonly<Record<string, string>>;
  /** It does not end by itself; when it has written this, it is ended as by Ctrl-C. */
  readonly until?: RegExp;
  /** With `until`: it is ended before the block that has `afterCtrlC`. */
  readonly keepsRunning?: true;
  readonly afterCtrlC?: true;
  /** Commands of root after it: they show that it has worked. */
  readonly after?: string;
  /** It writes this, where the page shows something else or nothing. */
  readonly writes?: RegExp;
}

/** By page, and there by the beginning of the block, with which no other of the page begins. Every other block is run as it stands. */
export const deviations: Readonly<Record<string, Readonly<Record<string, Deviation>>>> = {
  'README.md': {
    'scripts/up': { until: /nodeward checkpoint NAMESPACE\/POD\/CONTAINER\n/, keepsRunning: true },
    // its last line is a watch
    'export KUBECONFIG=$PWD/.nodeward/admin.kubeconfig': { until: /renewTime[\s\S]*\nNAME .*\nvm / },
    // there is no container runtime in the tree; checkpoint.test.ts has one
    'pki=.nodeward/pki': { writes: /runtime/ },
    'scripts/dependencies && node_modules/.bin/node scripts/build.ts': {
      afterCtrlC: true,
      after: 'systemctl is-active nodeward',
    },
    'scripts/test unit     # the unit tests; needs only npm': {
      notRun: 'it is the run of the tests, this one among them',
    },
  },
  'docs/how-to/upgrade.md': {
    'git checkout VERSION': { words: { VERSION: 'first' } },
  },
};

const partly = 'only its marked blocks are run, by pages.test.ts: some of the others need';

/** How-to pages that are not read on a fresh machine. */
export const notRead: Readonly<Record<string, string>> = {
  'docs/how-to/back-up-and-restore.md': `${partly} a second machine`,
  'docs/how-to/give-other-flags.md': `${partly} a person with an editor`,
  'docs/how-to/join-a-node.md': `${partly} a second machine`,
  'docs/how-to/move-the-root-folder.md': `${partly} a spare disk`,
  'docs/how-to/remove-a-node.md': `${partly} a second machine`,
};
