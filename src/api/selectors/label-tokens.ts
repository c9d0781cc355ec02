/** `word` is a key, a value, or the operator `in` or `notin`; the parser decides by the position. */
export type TokenKind = 'word' | '=' | '==' | '!=' | '!' | '<' | '>' | '(' | ')' | ',' | 'end';

export interface Token {
  kind: TokenKind;
  text: string;
  /** The offset at which it begins. */
  at: number;
}

const pattern = /[ \t\r\n]*(?:(?<symbol>==|!=|[=!<>(),])|(?<word>[^ \t\r\n=!<>(),]+)|$)/y;
const symbols: ReadonlyMap<string, TokenKind> = new Map(
  (['=', '==', '!=', '!', '<', '>', '(', ')', ','] as const).map((symbol) => [symbol, symbol]),
);

/** Splits a label selector into tokens; each character belongs to one, so this cannot fail. The last is `end`. */
export function* tokenize(text: string): Generator<Token, void> {
  pattern.lastIndex = 0;
  for (let at = 0; ; ) {
    pattern.lastIndex = at;
    const groups = pattern.exec(text)?.groups;
    const piece = groups?.['symbol'] ?? groups?.['word'];
    if (piece === undefined) break;
    at = pattern.lastIndex;
    yield { kind: symbols.get(piece) ?? 'word', text: piece, at: at - piece.length };
  }
  yield { kind: 'end', text: '', at: text.length };
}
