import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { entriesIn, textIn } from '@notebridge/system/starts/seen-files';
import { outermost } from './outermost.js';

/** Of a home folder: keys, passwords and tokens, histories, and what runs by itself. Names below it, and below each folder that is shown. */
const ofHome = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.boto',
  '.config/gcloud',
  '.config/gh',
  '.config/glab-cli',
  '.config/hub',
  '.config/git/credentials',
  '.config/op',
  '.config/rclone',
  '.config/doctl',
  '.config/notebridge',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/github-copilot',
  '.config/claude',
  '.config/pip',
  '.config/pypoetry',
  '.config/uv',
  '.config/containers',
  '.config/anaconda',
  '.config/Code',
  '.config/Cursor',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.local/share/notebridge',
  '.local/share/jupyter/runtime',
  '.local/share/python_keyring',
  '.local/share/uv/credentials',
  '.local/state/notebridge',
  '.cache/notebridge',
  '.jupyter',
  '.mozilla',
  '.thunderbird',
  '.password-store',
  '.docker',
  '.kube',
  '.minikube',
  '.terraform.d',
  '.terraformrc',
  '.vault-token',
  '.oci',
  '.databrickscfg',
  '.snowflake',
  '.snowsql',
  '.kaggle',
  '.huggingface',
  '.cache/huggingface/token',
  '.cache/huggingface/stored_tokens',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.composer/auth.json',
  '.netrc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pypirc',
  '.pip',
  '.condarc',
  '.continuum',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.mylogin.cnf',
  '.s3cfg',
  '.claude',
  '.claude.json',
  '.codex',
  '.cursor',
  '.gemini',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
  '.lesshst',
];

/** Variables that name a folder of ours, or of one of the programs above. */
const variables = [
  'XDG_CONFIG_HOME|notebridge',
  'XDG_STATE_HOME|notebridge',
  'XDG_DATA_HOME|notebridge',
  'XDG_CACHE_HOME|notebridge',
  'XDG_RUNTIME_DIR|',
  'GNUPGHOME|',
  'CLOUDSDK_CONFIG|',
  'DOCKER_CONFIG|',
  'KUBECONFIG|',
  'AWS_SHARED_CREDENTIALS_FILE|',
  'NETRC|',
  'NPM_CONFIG_USERCONFIG|',
  'JUPYTER_RUNTIME_DIR|',
];

/**
 * What code never sees, though it is below `shown`: our own state (`ours`, which may be anywhere), and where people have their keys. By
 * real paths, as they are at this moment: what is made later below a folder that is shown is seen.
 */
export function findHiddenPlaces(shown: readonly string[], ours: readonly string[] = []): string[] {
  const named = variables.flatMap((entry) => {
    const [variable = '', name = ''] = entry.split('|');
    const value = process.env[variable];
    return value === undefined || value === '' ? [] : [join(value, name)];
  });
  const all = [
    ...ours,
    ...named,
    ...[homedir(), ...shown.filter(isAbsolute)].flatMap((folder) => ofHome.map((name) => join(folder, name))),
  ];
  const found = all.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  return outermost(found).filter((path) => shown.some((folder) => path.startsWith(`${folder}/`)));
}

/** More than that is not looked through; what listens is found anyway. */
const maxEntries = 20_000;

/**
 * Sockets and pipes below folders: whoever opens one talks to a process outside, also in a folder that can only be read, and whatever the
 * network's namespace. Those that are there at this moment.
 */
export function findFileDoors(folders: readonly string[]): string[] {
  if (folders.length === 0) return [];
  const listening = listListening().filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)) && existsSync(path));
  return [...new Set([...listening, ...folders.flatMap(search)])];
}

/** Of this machine's sockets those with a path, as they were bound. */
function listListening(): string[] {
  return [...(textIn('/proc/net/unix') ?? '').matchAll(/ (\/.*)$/gm)].map(([, path = '']) => path);
}

/** Nearest first. */
function search(folder: string): string[] {
  const found: string[] = [];
  const queue = [folder];
  for (let seen = 0, next = queue.shift(); next !== undefined && seen < maxEntries; next = queue.shift())
    for (const entry of entriesIn(next)) {
      seen++;
      const path = join(next, entry.name);
      if (entry.isDirectory()) queue.push(path);
      else if (entry.isSocket() || entry.isFIFO()) found.push(path);
    }
  return found;
}
