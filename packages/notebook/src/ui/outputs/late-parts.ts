/** What is still being laid out or fetched. None of it rejects. */
const late = new Set<Promise<void>>();

/** A part of an output that comes later than the output. */
export function expectLate(part: Promise<void>): void {
  late.add(part);
  void part.then(() => late.delete(part));
}

/** Resolves when all that was expected is there, also what came with it; after `timeoutMs` in any case. */
export async function untilNothingIsLate(timeoutMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, timeoutMs, true);
  while (late.size > 0) if (await Promise.race([promise, Promise.all(late).then(() => false)])) break;
  clearTimeout(timer);
}
