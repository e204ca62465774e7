import { type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';

const codeSuffix =
  /\.(py|pyw|pyc|pyz|pyd|pth|[cm]?[jt]sx?|(ba|z|k|fi|da|c)?sh|rb|pl|pm|php|phar|lua|tcl|r|jl|go|jar|class|wasm|so(\.[\d.]+)?|dylib|dll|exe|bat|cmd|ps1|node|env|toml|cfg|rc)$/i;

/** No program that is given such a file runs it, unless it is told to: not settings (YAML, INI), archives, pickles, or notebooks, which some run. */
const dataSuffix = new RegExp(
  `\\.(${[
    'csv|tsv|psv|jsonl?|ndjson|geojson|txt|text|md|markdown|rst|log|tex|bib|rtf|xml|html?|srt|vtt|ics|vcf|eml|mbox',
    'db3?|sqlite3?|duckdb|mdb|accdb|parquet|feather|arrow|avro|orc|hdf5?|h5|nc|np[yz]|mat|fits|safetensors|gguf|onnx',
    'xlsx?|ods|docx?|odt|pptx?|odp|pdf|epub|png|jpe?g|gif|webp|bmp|tiff?|ico|avif|heic|svg|gpx|kml|shp|gpkg|pbf|mbtiles',
    'mp[34]|wav|flac|ogg|opus|m4a|mkv|webm|mov|avi',
  ].join('|')})(\\.(gz|bz2|xz|zst))?$`,
  'i',
);

/** By its name, which may have a query behind it (`data.db?mode=ro`). */
export function hasDataSuffix(path: string): boolean {
  return dataSuffix.test(basename(path).replace(/[?#].*$/s, ''));
}

/**
 * A word that leads there may name code, whoever gets it: it has the suffix of some, or is a file, or not there yet, and has not that of data. A folder is
 * data, and so is a socket. `mayBeAbsent`: false where a word that leads to nothing is no path at all.
 */
export function isCodeFile(path: string, mayBeAbsent: boolean): boolean {
  if (codeSuffix.test(basename(path))) return true;
  const found = statOf(path);
  if (found === undefined) return mayBeAbsent && !hasDataSuffix(path);
  return found.isFile() && (!hasDataSuffix(path) || (found.mode & 0o111) !== 0);
}

export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Too long for a name, a zero in it, or below a file.
    return undefined;
  }
}
