/** A review without its status: clients send an empty one, which validation must not find incomplete. */
export function withoutStatus<B extends object>(body: B): B {
  const review = { ...body };
  Reflect.deleteProperty(review, 'status');
  return review;
}
