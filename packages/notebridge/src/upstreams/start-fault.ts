/** Why a server did not start; `lasting` if a retry can't help before something is fixed. */
export class StartFault extends Error {
  readonly lasting: boolean;

  constructor(message: string, { lasting, cause }: { lasting: boolean; cause?: unknown }) {
    super(message, { cause });
    this.lasting = lasting;
  }
}
