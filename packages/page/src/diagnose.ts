import type { Diagnosis } from './page-state.js';

/** What is used of `navigator.permissions`. */
export interface PagePermissions {
  query(descriptor: { name: string }): Promise<{ readonly state: string }>;
}

/** Chromium's name for it, and the one before. */
const permissionNames = ['loopback-network', 'local-network-access'];
const probeMs = 3000;

/**
 * Why a dial failed. A browser reports a refused, a blocked and a dead port in the same way, so two more sources are asked:
 * the permission, and plain HTTP, which the program answers to anybody (with "nothing to see here").
 */
export async function diagnose(port: number, permissions: PagePermissions | undefined): Promise<Diagnosis> {
  if ((await queryPermission(permissions)) === 'denied') return 'blocked';
  try {
    await fetch(`http://localhost:${port}/`, {
      mode: 'no-cors',
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(probeMs),
    });
    return 'refused';
  } catch {
    return 'nobody';
  }
}

async function queryPermission(permissions: PagePermissions | undefined): Promise<string | undefined> {
  for (const name of permissionNames) {
    try {
      return (await permissions?.query({ name }))?.state;
    } catch {
      // A browser that does not know the name rejects.
    }
  }
  return undefined;
}
