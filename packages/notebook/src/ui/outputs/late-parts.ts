/** What is still being laid out or fetched. None of it rejects. */
const late = new Set<Promise<void>>();

/** A part of an output that comes later than the output. */
export function expectLate(part: Promise<void>): void {
  late.add(part);
  void part.then(() => late.delete(part));
}

/** Resolves when all that was expected is there, also what came with it; after `timeoutMs` in any case. */
export async function untilNothingIsLate(timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), timeoutMs);
  });
  while (late.size > 0) if (await Promise.race([isLate, Promise.all(late).then(() => false)])) break;
  clearTimeout(timer);
}
