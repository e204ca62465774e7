import type { JsonObject } from '@notebridge/protocol/json';
import type { KernelInfo } from '../kernel/kernel.js';
import { asObject } from './choose-kernel.js';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';

const mimeTypes: Readonly<Record<string, string>> = { python: 'text/x-python', r: 'text/x-r-source', julia: 'application/julia' };
const extensions: Readonly<Record<string, string>> = { python: '.py', r: '.r', julia: '.jl' };

/**
 * The notebook's metadata with the kernel that it uses, as JupyterLab writes it (nbformat 4.5: `kernelspec`, `language_info`). For Pyodide
 * it names `python3`, which every Jupyter has, so that other programs open it; our own mark is the display name.
 */
export function withKernel(metadata: JsonObject, found: FoundKernel, { version, displayName, name }: KernelInfo): JsonObject {
  const { language } = found;
  const isSpec = found.source === 'kernelspec';
  const specName = isSpec ? found.id : language === 'python' ? 'python3' : name;
  const shown = found.id === pyodideKernel.id || isSpec ? found.displayName : displayName || 'Python 3 (ipykernel)';
  return {
    ...metadata,
    kernelspec: { ...asObject(metadata.kernelspec), display_name: shown, language, name: specName },
    language_info: languageInfo(metadata.language_info, language, version),
  };
}

function languageInfo(before: unknown, language: string, version: string): JsonObject {
  const kept = asObject(before);
  const isSame = kept.name === language;
  const known: JsonObject =
    language === 'python'
      ? { codemirror_mode: { name: 'ipython', version: 3 }, nbconvert_exporter: 'python', pygments_lexer: 'ipython3' }
      : {};
  const [mimetype, file_extension] = [mimeTypes[language], extensions[language]];
  return {
    ...known,
    ...(file_extension === undefined ? {} : { file_extension }),
    ...(mimetype === undefined ? {} : { mimetype }),
    ...(isSame ? kept : {}),
    name: language,
    ...(version === '' ? {} : { version }),
  };
}
