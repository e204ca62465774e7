import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { Exposure, NameStyle, Placement, ToolServer } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';

/** The members of a server that are the same whichever hub runs it, by the config; and the events of this hub's own one. */
export class ConfiguredServer implements Partial<ToolServer> {
  readonly isConfig = true;
  protected readonly local: ToolServer;

  constructor(local: ToolServer) {
    this.local = local;
  }

  get name(): string {
    return this.local.name;
  }

  get description(): string | undefined {
    return this.local.description;
  }

  get instructions(): string | undefined {
    return this.local.instructions;
  }

  get expose(): Exposure {
    return this.local.expose;
  }

  get names(): NameStyle | undefined {
    return this.local.names;
  }

  get placement(): Placement | undefined {
    return this.local.placement;
  }

  get isPerAgent(): boolean {
    return this.local.isPerAgent === true;
  }

  get isLazy(): boolean {
    return this.local.isLazy === true;
  }

  notify(method: string, params: JsonObject | undefined, context?: CallContext): void {
    this.local.notify(method, params, context);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.local.subscribe(listener);
  }
}
