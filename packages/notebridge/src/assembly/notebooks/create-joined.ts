import type { NotebookTools } from '@notebridge/notebook/host';
import { ownVersion } from '@notebridge/system/files/own-files';
import type { JoinRequest } from '../../broker/host-link.js';
import type { HostPlace } from '../../broker/host-place.js';
import { dialHost } from '../../broker/join-link.js';
import { JoinedNotebook, type JoinedNotebookOptions } from '../../broker/joined-notebook.js';
import { LentTools } from '../../broker/lent-tools.js';
import { fileOf } from '../../broker/notebook-address.js';
import { reachHost } from '../../broker/reach-host.js';
import { userConfigFile } from '../../config/load-config.js';
import { openAddress } from '../../identity/open-address.js';
import { nameOfAgent } from '../../notebooks/call-notebook-tool.js';
import { localInstructions, showWindow, windowTool } from '../../notebooks/local/local-notebook.js';
import { toHow } from './how-to-open.js';
import { realFileOf } from './notebook-file.js';
import { browserSwitchedOff, type NotebookSetup } from './open-notebook.js';
import { toTerms } from './page-options.js';
import { startBroker } from './start-broker.js';

export interface CreateJoinedOptions {
  open: Pick<JoinRequest, 'address' | 'id'>;
  /** The process that has it open, where it is known. */
  place?: HostPlace | undefined;
  /** Default false. */
  readOnly?: boolean | undefined;
  /** Of the notebook's Jupyter server, where a person has named it. */
  jupyterToken?: string | undefined;
  /** Lent to the notebook's code. */
  tools?: NotebookTools | undefined;
  /** What agents are told until the notebook is there. Default: as of the built-in notebook. */
  instructions?: string | undefined;
  /** See `JoinedNotebookOptions`. */
  howAgain?: string | undefined;
}

/** A link of this process to a notebook, which joins nothing yet. */
export function createJoined(
  setup: NotebookSetup,
  { open, place, readOnly = false, jupyterToken, tools, ...more }: CreateJoinedOptions,
): JoinedNotebook {
  const { stateDir: dir, logger, pages, config } = setup;
  const mayHaveWindow = open.address === undefined || open.address.kind === 'built-in';
  /** The process that was found at first may have ended since. */
  const connect: JoinedNotebookOptions['connect'] = (createHandler, address = open.address) =>
    place !== undefined && address === undefined
      ? dialHost(place, ownVersion(), createHandler)
      : reachHost({ dir, version: ownVersion(), file: fileOf(address), startBroker: () => startBroker(setup), logger }, createHandler);
  return new JoinedNotebook({
    connect,
    open: {
      ...open,
      ...toTerms(pages, readOnly),
      ...(tools === undefined ? {} : { toolsKey: realFileOf(config.file ?? userConfigFile(setup.env)) }),
      how: toHow(setup, jupyterToken),
    },
    instructions: more.instructions ?? localInstructions(tools !== undefined),
    windowTool: mayHaveWindow ? windowTool.name : undefined,
    showWindow: (window) => showWindow(window, pages.openBrowser === false ? async () => browserSwitchedOff : openAddress),
    nameOfAgent,
    howAgain: more.howAgain,
    tools: tools && new LentTools(tools),
    answerTimeoutMs: config.limits.answerTimeoutMs,
    logger,
  });
}
