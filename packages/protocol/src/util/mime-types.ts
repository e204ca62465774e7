import { extname } from 'node:path';

const textTypes: Record<string, string> = {
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.svg': 'image/svg+xml',
  '.tsv': 'text/tab-separated-values',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
};

const binaryTypes: Record<string, string> = {
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.mp3': 'audio/mpeg',
  '.parquet': 'application/vnd.apache.parquet',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.sqlite': 'application/vnd.sqlite3',
  '.tar': 'application/x-tar',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.zip': 'application/zip',
};

/** Of a file with bytes, by its name. */
export function mimeTypeOf(name: string): string {
  const extension = extname(name).toLowerCase();
  return binaryTypes[extension] ?? textTypes[extension] ?? 'application/octet-stream';
}

/** Of a file whose bytes are a text, by its name. Undefined where the name says that it is something else. */
export function textTypeOf(name: string): string | undefined {
  const extension = extname(name).toLowerCase();
  return extension in binaryTypes ? undefined : (textTypes[extension] ?? 'text/plain');
}
