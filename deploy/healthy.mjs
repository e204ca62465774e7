// Node would open its debugger for this signal.
process.on('SIGUSR1', () => {});

// Exit code 0 if the hub of this container answers; with --ready, if it is to be sent calls. For health checks: the image has no curl.
const [path, url] = process.argv[2] === '--ready' ? ['/readyz', process.argv[3]] : ['/healthz', process.argv[2]];

try {
  const answer = await fetch(new URL(path, url ?? 'http://127.0.0.1:8765'), { signal: AbortSignal.timeout(4000) });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
