/** Why a server did not start; `lasting` if a retry can't help before something is fixed. */
export class StartFault extends Error {
  readonly lasting: boolean;
  /** The HTTP status that the server answered with. */
  readonly status: number | undefined;

  constructor(message: string, { lasting, status, cause }: { lasting: boolean; status?: number | undefined; cause?: unknown }) {
    super(message, { cause });
    this.lasting = lasting;
    this.status = status;
  }
}
