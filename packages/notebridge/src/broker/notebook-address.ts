/** Which notebook is meant: by where it is, and not by who holds it. */
export type NotebookAddress =
  /** `file`: with links resolved; left out: one in memory. */
  | { kind: 'built-in'; file?: string | undefined }
  /** `where`: the server's or notebook's address, or a path, as `--notebook jupyter=` takes it. `notebook`: its path on that server. */
  | { kind: 'jupyter'; where: string; notebook?: string | undefined }
  /** `url`: what the page shows; left out: whatever the person opens. */
  | { kind: 'page'; profile: string; url?: string | undefined };

/** The same for two addresses that mean the same notebook; undefined for one that nobody else can mean. */
export function keyOf(address: NotebookAddress): string | undefined {
  switch (address.kind) {
    case 'built-in':
      return address.file === undefined ? undefined : `file:${address.file}`;
    case 'jupyter':
      return `jupyter:${JSON.stringify([address.where, address.notebook ?? ''])}`;
    case 'page':
      return address.url === undefined ? undefined : `page:${JSON.stringify([address.profile, address.url])}`;
  }
}

/** What a notebook is, as agents and people are told: `built-in`, `jupyter`, or the name of the page's profile. */
export function notebookKindOf(address: NotebookAddress): string {
  return address.kind === 'page' ? address.profile : address.kind;
}

/** The file of a built-in notebook; undefined for any other. */
export function fileOf(address: NotebookAddress | undefined): string | undefined {
  return address?.kind === 'built-in' ? address.file : undefined;
}
