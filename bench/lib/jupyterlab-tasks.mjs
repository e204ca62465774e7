// Ten tasks as an agent does them, through whichever program: how many calls, how much it has to read, how long it takes.
// A program is an adapter of a few verbs; each answer is looked at, so that a task that was not done is no fast one.

const longCell = Array.from({ length: 60 }, (_, index) => `value_${index} = ${index}`).join('\n');
/** A picture that does not pack well, as plots do not: 60 kB. No package is needed for it. */
const picture = `import random, struct, zlib
from IPython.display import Image
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\\0" + random.randbytes(420) for _ in range(140))
head = struct.pack(">IIBBBBB", 140, 140, 8, 2, 0, 0, 0)
Image(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))`;
const table = `class Table:
    def __repr__(self): return "\\n".join(f"{i:6} {i * i:10}" for i in range(1000)) + "\\n[1000 rows x 2 columns]"
    def _repr_html_(self): return "<table>" + "".join(f"<tr><td>{i}</td><td>{i * i}</td></tr>" for i in range(1000)) + "</table>"
Table()`;

/** The notebook that each task finds, but for what the tasks before have done. */
export function cellsOfTasks(cell) {
  const usual = Array.from({ length: 30 }, (_, index) => cell(`c${index}`, `x${index} = ${index}\nprint(x${index})`));
  return [cell('fails', 'total = sum(nmbers)\ntotal'), cell('long', longCell), ...usual, cell('target', 'answer = 6 * 7\nanswer')];
}

const tasks = {
  'read the notebook': async (agent) => expect(await agent.readAll(), 'x29 = 29'),
  'compute a value': async (agent) => expect(await agent.runNew('sum(range(1000))'), '499500'),
  'mend a cell that fails': async (agent) => {
    expect(await agent.run('fails'), 'nmbers');
    await agent.edit('fails', 'total = sum(nmbers)\ntotal', 'nmbers', '[40, 2]');
    expect(await agent.run('fails'), '42');
  },
  'look at a picture': async (agent) => {
    const { content } = await agent.runNew(picture);
    if (!content.some(({ type, data }) => type === 'image' && data.length > 60_000)) throw new Error('There is no picture.');
  },
  'print 5,000 lines': async (agent) => expect(await agent.runNew('for i in range(5000): print("line", i)'), 'line 4999'),
  'look at a table of 1,000 rows': async (agent) => expect(await agent.runNew(table), '998001'),
  'change a line of a long cell': async (agent) => agent.edit('long', longCell, 'value_30 = 30', 'value_30 = 31'),
  'add a heading, and move it': async (agent) => agent.addHeadingAndMove(),
  'find a cell and run it': async (agent) => {
    expect(await agent.readAll(), 'answer = 6');
    expect(await agent.run('target'), '42');
  },
  'delete a cell, and bring it back': async (agent) => agent.deleteAndBringBack('c5', 'x5 = 5\nprint(x5)'),
};

function expect(answer, text) {
  if (!JSON.stringify(answer.content).includes(text)) throw new Error(`"${text}" is not in ${JSON.stringify(answer).slice(0, 200)}`);
}

/** Each task's calls, bytes of answers and milliseconds. What fails is named. */
export async function measureTasks(client, adapter) {
  const found = {};
  let [calls, bytes] = [0, 0];
  const call = async (name, input) => {
    const answer = await client.call(name, input);
    calls++;
    bytes += JSON.stringify(answer).length;
    return answer;
  };
  const agent = adapter(call);
  await agent.runNew('0');
  for (const [name, task] of Object.entries(tasks)) {
    [calls, bytes] = [0, 0];
    const startedAt = performance.now();
    const failed = await task(agent).then(
      () => undefined,
      (error) => String(error.message).slice(0, 200),
    );
    found[name] = { calls, bytes, ms: performance.now() - startedAt, ...(failed === undefined ? {} : { failed }) };
  }
  return found;
}

export function notebridgeAgent(call) {
  return {
    readAll: () => call('get_cells', {}),
    runNew: (code) => call('run_code', { code }),
    run: (cellId) => call('run_code_cell', { cellId }),
    edit: (cellId, source, from, to) => call('update_cell', { cellId, content: source.replace(from, to) }),
    async addHeadingAndMove() {
      const { newCellId } = JSON.parse((await call('add_text_cell', { cellIndex: 0, content: '# Heading' })).content[0].text);
      await call('move_cell', { cellId: newCellId, cellIndex: 3 });
    },
    async deleteAndBringBack(cellId) {
      await call('delete_cell', { cellId });
      await call('undo_last_change', {});
    },
  };
}

/** jupyter-mcp-server 2.2, by the ids of cells, which it takes too. */
export function peerAgent(call) {
  return {
    readAll: () => call('read_notebook', { notebook_name: 'default', response_format: 'detailed', limit: 0 }),
    runNew: (code) => call('insert_execute_code_cell', { cell_index: -1, cell_source: code }),
    run: (cell_id) => call('execute_cell', { cell_id }),
    edit: (cell_id, _, old_string, new_string) => call('edit_cell_source', { cell_id, old_string, new_string }),
    async addHeadingAndMove() {
      await call('insert_cell', { cell_index: 0, cell_type: 'markdown', cell_source: '# Heading' });
      await call('move_cell', { source_index: 0, target_index: 3 });
    },
    async deleteAndBringBack(id, source) {
      await call('delete_cell', { cell_ids_to_delete: [id] });
      await call('insert_cell', { cell_index: 8, cell_type: 'code', cell_source: source });
    },
  };
}
