/** A cell that a kernel of a server has been sent: what another process needs to hear the rest of it. */
export interface SentCell {
  readonly kernelId: string;
  /** Under which the kernel's server keeps what nobody was there to hear. */
  readonly clientId: string;
  readonly messageId: string;
  readonly source: string;
  /** Its code runs; before, cells of others may be in front of it. */
  readonly hasBegun: boolean;
}
