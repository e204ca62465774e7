import type { WatchedConfig } from '../../config/config-edit.js';
import type { OwnerBody } from './owner-schemas.js';

/** What the last edit of the config did, and why the file as it is now is not used, if it is not. */
export function describeConfig({ edit, refused }: WatchedConfig, file: string | undefined): OwnerBody<'Config'> {
  return {
    file: file ?? null,
    edit: edit === undefined ? null : { ...edit, at: new Date(edit.at).toISOString() },
    refused:
      refused === undefined
        ? null
        : {
            at: new Date(refused.at).toISOString(),
            message: refused.message,
            file: refused.file ?? null,
            faults: refused.faults.map(({ line, ...fault }) => ({ line: line ?? null, ...fault })),
          },
  };
}
