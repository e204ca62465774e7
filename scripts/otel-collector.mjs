// A real OpenTelemetry collector, for tests: built by its own builder from Go's modules, once, into .cache. That takes minutes, and
// about 1.5 GB of disk while it lasts.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasGo, runGo } from './go.mjs';
import { cache, madeOnce } from './made-once.mjs';

const modules = 'go.opentelemetry.io/collector';
/** Of the builder and the parts; those that are called stable have another. */
const version = 'v0.165.0';
const stableVersion = 'v1.71.0';
const name = `otel-collector-${version}`;

/**
 * Takes traces by OTLP and writes them to its standard error, by the exporter `debug`. Throws with what Go said when it cannot be built.
 * @returns {Promise<string | undefined>} The path of the program; undefined where there is no Go.
 */
export async function otelCollector() {
  if (!existsSync(join(cache, name)) && !(await hasGo())) return undefined;
  return join(await madeOnce(name, build), process.platform === 'win32' ? 'collector.exe' : 'collector');
}

/** @param {string} making */
async function build(making) {
  process.stderr.write(`tests: building an OpenTelemetry collector ${version}; this takes minutes\n`);
  const built = join(making, 'built');
  // JSON is YAML.
  const manifest = join(making, 'builder.json');
  writeFileSync(manifest, JSON.stringify(toManifest(built)));
  await runGo(making, ['run', `${modules}/cmd/builder@${version}`, '--config', manifest], 25 * 60_000);
  return built;
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
