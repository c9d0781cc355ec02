/**
 * Words that stood for several things in this repository, or that a reader has to look at twice, with what to say
 * instead. docs/glossary.md has the words to use.
 */
export interface RefusedWord {
  /** Whole words of an identifier (`toldNames` has `told` and `names`), or of a comment; lower case. */
  words: readonly string[];
  /** Where it is refused: as part of an identifier, or in comments and Markdown too. */
  where: 'identifier' | 'everywhere';
  /** Only as the first word of an identifier, where it is the prefix of a name. */
  prefix?: true;
  instead: string;
}

export const refusedWords: readonly RefusedWord[] = [
  {
    words: ['told'],
    where: 'everywhere',
    instead: 'logged, reported, announced, notified, or the thing itself',
  },
  { words: ['anew'], where: 'everywhere', instead: 'again' },
  { words: ['whoever'], where: 'everywhere', instead: 'name them: the caller, the client, the operator' },
  { words: ['somebody'], where: 'everywhere', instead: 'name them: the caller, the client, another process' },
  { words: ['seat', 'seats'], where: 'everywhere', instead: 'slot (of a limit), candidate (for the leader)' },
  { words: ['turn', 'turns'], where: 'identifier', instead: 'mutex, semaphore, lock, yield' },
  { words: ['shown'], where: 'identifier', instead: 'a verb: format, render, describe' },
  { words: ['opaque'], where: 'identifier', instead: 'what it is: hidden, unreadable, unlisted' },
  { words: ['few'], where: 'identifier', instead: 'small, or the limit that is meant' },
  { words: ['marks'], where: 'identifier', instead: 'what is marked: positions, revisions, annotations' },
  { words: ['seen'], where: 'identifier', instead: 'visited, observed, known' },
  {
    words: ['most', 'longest', 'largest', 'widest', 'highest'],
    where: 'identifier',
    prefix: true,
    instead: 'max…',
  },
  { words: ['least', 'fewest', 'smallest', 'lowest'], where: 'identifier', prefix: true, instead: 'min…' },
];

/** Names that programs outside this repository use, or that stand for one of a command's flags: they stay. */
export const publicNames: ReadonlySet<string> = new Set(['SeenRequest', 'SeenWrite', 'mostNames']);
