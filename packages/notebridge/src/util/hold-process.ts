/** Keeps this process alive until the function that it returns is called: what only waits for a time may hold nothing that does. */
export function holdProcess(): () => void {
  const timer = setInterval(() => {}, 2 ** 31 - 1);
  return () => clearInterval(timer);
}
