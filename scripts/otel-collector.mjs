// A real OpenTelemetry collector, for tests: built by its own builder from Go's modules, once, into node_modules/.cache. That takes minutes, and
// about 1.5 GB of disk while it lasts.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const modules = 'go.opentelemetry.io/collector';
/** Of the builder and the parts; those that are called stable have another. */
const version = 'v0.165.0';
const stableVersion = 'v1.71.0';
const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules/.cache/notebridge');
const folder = join(cache, `otel-collector-${version}`);
const program = join(folder, process.platform === 'win32' ? 'collector.exe' : 'collector');
/** On a machine with much else to do. */
const timeout = 25 * 60_000;

/**
 * Takes traces by OTLP and writes them to its standard error, by the exporter `debug`. Throws with what Go said when it cannot be built.
 * @returns {Promise<string | undefined>} The path of the program; undefined where there is no Go.
 */
export async function otelCollector() {
  if (existsSync(program)) return program;
  const hasGo = await run('go', ['version']).then(
    () => true,
    () => false,
  );
  if (!hasGo) return undefined;
  await build();
  return program;
}

async function build() {
  process.stderr.write(`tests: building an OpenTelemetry collector ${version}; this takes minutes\n`);
  removeAbandoned();
  // Made aside: what a run that was ended has left half done is never used.
  const making = `${folder}-${process.pid}`;
  const [built, temporary] = [join(making, 'built'), join(making, 'tmp')];
  mkdirSync(temporary, { recursive: true });
  try {
    // JSON is YAML.
    const manifest = join(making, 'builder.json');
    writeFileSync(manifest, JSON.stringify(toManifest(built)));
    // Nothing stays in the folders of the user: Go's caches, and what the builder leaves in the one for temporary files, go with the rest.
    const places = {
      GOCACHE: join(making, 'cache'),
      GOMODCACHE: join(making, 'modules'),
      TMPDIR: temporary,
      TEMP: temporary,
      TMP: temporary,
    };
    // Modules are read-only otherwise, and could not be removed; and this checkout is not what is built.
    const flags = { GOFLAGS: `${process.env.GOFLAGS ?? ''} -modcacherw -buildvcs=false`.trim(), GOWORK: 'off' };
    const args = ['run', `${modules}/cmd/builder@${version}`, '--config', manifest];
    await run('go', args, { cwd: making, env: { ...process.env, ...places, ...flags }, timeout, maxBuffer: 64 * 1024 * 1024 });
    takeInto(built);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** The parts that it has. @param {string} built */
function toManifest(built) {
  return {
    dist: { name: 'collector', output_path: built },
    receivers: [{ gomod: `${modules}/receiver/otlpreceiver ${version}` }],
    exporters: [{ gomod: `${modules}/exporter/debugexporter ${version}` }],
    providers: [{ gomod: `${modules}/confmap/provider/fileprovider ${stableVersion}` }],
    conf_resolver: { default_uri_scheme: 'file' },
  };
}

/** Another run may have built it meanwhile, and be at work with it: then that one stays. @param {string} built */
function takeInto(built) {
  try {
    if (!existsSync(program)) renameSync(built, folder);
  } catch (error) {
    if (!existsSync(program)) throw error;
  }
}

/** What builds that were killed have left, which is large. */
function removeAbandoned() {
  const prefix = `otel-collector-${version}-`;
  for (const name of existsSync(cache) ? readdirSync(cache) : []) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0;
    if (pid > 0 && !isAlive(pid)) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is another user's.
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
