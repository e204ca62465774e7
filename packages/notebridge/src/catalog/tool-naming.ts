import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { ServerTools } from './server-tools.js';

/**
 * Has every layer further in see one name for one tool, whichever door a call came through and however old the name was that an agent
 * used: the one that `tools/list` shows now. Beside it stands what the call is aimed at, `target`, which a guard has found out mostly. It
 * belongs right behind that: a server whose tools were never listed is asked for them first, which may start it.
 */
export function createToolNaming(tools: ServerTools): Middleware {
  return {
    name: 'toolNaming',
    onCallTool(context, callNext) {
      const { target } = context;
      const { name } = context.message;
      // What is no text names no tool of ours, also where it is printed like one.
      if (target === undefined && typeof name !== 'string') return callNext(context);
      const callAs = (today: string, aim: ToolAddress): ReturnType<typeof callNext> => {
        const isSame = today === name && target !== undefined;
        return callNext(isSame ? context : context.copy({ message: { ...context.message, name: today }, target: aim }));
      };
      // What has a name was listed: there is nothing to learn.
      const listed = target && tools.names.find(target);
      if (target !== undefined && listed !== undefined) return callAs(listed, target);
      // Undefined: the notebook's own, or a name that nobody has.
      const call = (aim: ToolAddress | undefined): ReturnType<typeof callNext> =>
        aim === undefined ? callNext(context) : callAs(tools.nameOf(aim), aim);
      const known = target ?? tools.resolve(name);
      const learning = known === undefined ? tools.learn(name, context) : target && tools.learnToolsOf(target.server, context);
      return learning === undefined ? call(known) : learning.then(() => call(target ?? tools.resolve(name)));
    },
  };
}
