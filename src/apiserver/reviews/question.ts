/** What a client asks, without the answer: clients send an empty one along, which nobody should find incomplete. */
export function questionIn<B extends object>(body: B): B {
  const question = { ...body };
  Reflect.deleteProperty(question, 'status');
  return question;
}
