import { existsSync } from 'node:fs';
import { textIn } from '@notebridge/system/starts/seen-files';

/** Why there is no sandbox, and what would give one. */
export interface Unavailable {
  readonly reason: string;
  readonly fix: string;
}

export const notInstalled: Unavailable = {
  reason: 'bubblewrap is not installed: there is no "bwrap" on PATH',
  fix: 'Install it: "apt install bubblewrap", "dnf install bubblewrap" or "apk add bubblewrap".',
};

/** Reads from the machine why bubblewrap did not work; `said` is what it, or our look at it, had to say. */
export function explainFailure(said: string): Unavailable {
  const because = said.trim() === '' ? '' : `: ${said.trim()}`;
  const found = causes.find(({ applies }) => applies(said));
  if (found) return { reason: `${found.reason}${because}`, fix: found.fix };
  return {
    reason: `bubblewrap does not work here${because}`,
    fix: 'To see more, run: bwrap --unshare-all --unshare-user --ro-bind / / true',
  };
}

const causes: readonly (Unavailable & { applies: (said: string) => boolean })[] = [
  {
    applies: (said) => /^bwrap: unknown option/im.test(said),
    reason: 'this bubblewrap is too old',
    fix: 'Install bubblewrap 0.8 or newer.',
  },
  {
    applies: () => setting('user/max_user_namespaces') === '0',
    reason: 'user namespaces are switched off',
    fix: 'Switch them on: sudo sysctl user.max_user_namespaces=15000',
  },
  {
    applies: () => setting('kernel/unprivileged_userns_clone') === '0' && process.getuid?.() !== 0,
    reason: 'user namespaces are switched off for everybody but root',
    fix: 'Switch them on: sudo sysctl kernel.unprivileged_userns_clone=1',
  },
  {
    applies: (said) => /^bwrap: /m.test(said) && setting('kernel/apparmor_restrict_unprivileged_userns') === '1',
    reason: 'AppArmor forbids user namespaces here, as Ubuntu does since 23.10',
    fix: 'Allow them to bubblewrap: docs/kernels.md, "Where the sandbox is forbidden", has the AppArmor profile.',
  },
  {
    applies: (said) => /^bwrap: /m.test(said) && (existsSync('/.dockerenv') || existsSync('/run/.containerenv')),
    reason: 'this container forbids it',
    fix: 'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined; or take the container itself for the boundary, and leave nothing in it that code may not have.',
  },
];

function setting(name: string): string | undefined {
  return textIn(`/proc/sys/${name}`)?.trim();
}
