// Tasks over files, by server-filesystem.

/** @type {import('../tasks.mjs').Task[]} */
export const fileTasks = [
  {
    name: 'errors in logs',
    asks: 'Which of the logs in logs/ has the most lines with ERROR, and how many are there in all of them together?',
    queries: ['list the files of a folder, and read them'],
    uses: ['filesystem.list_directory', 'filesystem.read_text_file'],
    async direct(callAll, folder) {
      const [list] = await callAll([['filesystem.list_directory', { path: `${folder}/logs` }]]);
      const names = namesIn(list);
      const read = await callAll(names.map((name) => ['filesystem.read_text_file', { path: `${folder}/logs/${name}` }]));
      const errors = Object.fromEntries(names.map((name, at) => [name, linesWith(read[at]?.text, ' ERROR ').length]));
      const worst = names.reduce((most, name) => ((errors[name] ?? 0) > (errors[most] ?? 0) ? name : most));
      return { worst, total: Object.values(errors).reduce((sum, each) => sum + each, 0) };
    },
    code: (folder) => `import asyncio, json
from generated.mcp.filesystem import list_directory, read_text_file
names = [line.split(" ", 1)[1] for line in (await list_directory(path="${folder}/logs"))["content"].splitlines()]
logs = await asyncio.gather(*(read_text_file(path=f"${folder}/logs/{name}") for name in names))
errors = {name: log["content"].count(" ERROR ") for name, log in zip(names, logs)}
print(json.dumps({"worst": max(names, key=errors.get), "total": sum(errors.values())}))`,
  },
  {
    name: 'largest files',
    asks: 'What are the three largest files, and how many bytes has each?',
    queries: ['tree of a folder', 'size of a file'],
    uses: ['filesystem.directory_tree', 'filesystem.get_file_info'],
    async direct(callAll, folder) {
      const [tree] = await callAll([['filesystem.directory_tree', { path: folder }]]);
      const paths = filesIn(JSON.parse(tree?.text ?? '[]'), '');
      const infos = await callAll(paths.map((path) => ['filesystem.get_file_info', { path: `${folder}/${path}` }]));
      const sizes = paths.map((path, at) => /** @type {const} */ ([path, Number(/size: (\d+)/.exec(infos[at]?.text ?? '')?.[1])]));
      return sizes.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 3);
    },
    code: (folder) => `import asyncio, json, re
from generated.mcp.filesystem import directory_tree, get_file_info
def files(entries, above):
    for entry in entries:
        if entry["type"] == "file":
            yield above + entry["name"]
        else:
            yield from files(entry["children"], above + entry["name"] + "/")
paths = list(files(json.loads((await directory_tree(path="${folder}"))["content"]), ""))
infos = await asyncio.gather(*(get_file_info(path=f"${folder}/{path}") for path in paths))
sizes = [(path, int(re.search(r"size: (\\d+)", info["content"])[1])) for path, info in zip(paths, infos)]
print(json.dumps(sorted(sizes, key=lambda each: (-each[1], each[0]))[:3]))`,
  },
  {
    name: 'revenue by country',
    asks: 'How many euros have customers of each country spent?',
    queries: ['read a text file'],
    uses: ['filesystem.read_text_file'],
    async direct(callAll, folder) {
      const [customers, orders] = await callAll(
        ['customers', 'orders'].map((name) => ['filesystem.read_text_file', { path: `${folder}/shop/${name}.csv` }]),
      );
      const countries = Object.fromEntries(rowsIn(customers).map(([id, country]) => [id, country]));
      /** @type {Record<string, number>} */
      const totals = {};
      for (const [, customer, euros] of rowsIn(orders)) {
        const country = countries[customer ?? ''] ?? '';
        totals[country] = (totals[country] ?? 0) + Number(euros);
      }
      return totals;
    },
    code: (folder) => `import collections, csv, json
from generated.mcp.filesystem import read_text_file
async def rows(name):
    return list(csv.DictReader((await read_text_file(path=f"${folder}/shop/{name}.csv"))["content"].splitlines()))
countries = {row["id"]: row["country"] for row in await rows("customers")}
totals = collections.Counter()
for row in await rows("orders"):
    totals[countries[row["customer"]]] += int(row["euros"])
print(json.dumps(totals))`,
  },
  {
    name: 'list of things to do',
    asks: 'Collect the TODO lines of all notes in todo.md, each behind the name of its file. How many lines does it have?',
    queries: ['find files by a pattern', 'read and write a text file'],
    uses: ['filesystem.search_files', 'filesystem.read_text_file', 'filesystem.write_file'],
    async direct(callAll, folder) {
      const [found] = await callAll([['filesystem.search_files', { path: folder, pattern: '**/*.md' }]]);
      const paths = (found?.text ?? '')
        .split('\n')
        .filter((path) => path.includes('/notes/'))
        .sort();
      const read = await callAll(paths.map((path) => ['filesystem.read_text_file', { path }]));
      const lines = paths.flatMap((path, at) => linesWith(read[at]?.text, 'TODO').map((line) => `${path.split('/').at(-1)}: ${line}`));
      await callAll([['filesystem.write_file', { path: `${folder}/todo.md`, content: lines.join('\n') }]]);
      const [written] = await callAll([['filesystem.read_text_file', { path: `${folder}/todo.md` }]]);
      return { lines: linesWith(written?.text, 'TODO').length, first: (written?.text ?? '').split('\n')[0] };
    },
    code: (folder) => `import asyncio, json
from generated.mcp.filesystem import read_text_file, search_files, write_file
found = (await search_files(path="${folder}", pattern="**/*.md"))["content"].splitlines()
paths = sorted(path for path in found if "/notes/" in path)
notes = await asyncio.gather(*(read_text_file(path=path) for path in paths))
lines = [f"{path.split('/')[-1]}: {line}" for path, note in zip(paths, notes) for line in note["content"].splitlines() if "TODO" in line]
await write_file(path="${folder}/todo.md", content="\\n".join(lines))
written = (await read_text_file(path="${folder}/todo.md"))["content"].splitlines()
print(json.dumps({"lines": len(written), "first": written[0]}))`,
  },
  {
    name: 'longer timeouts',
    asks: 'Set the timeout of every service in config/ to 60, and show me what the files say now.',
    queries: ['list a folder', 'read and edit text files'],
    uses: ['filesystem.list_directory', 'filesystem.edit_file', 'filesystem.read_text_file'],
    async direct(callAll, folder) {
      const [list] = await callAll([['filesystem.list_directory', { path: `${folder}/config` }]]);
      const paths = namesIn(list).map((name) => `${folder}/config/${name}`);
      const edits = [{ oldText: 'timeout = 30', newText: 'timeout = 60' }];
      await callAll(paths.map((path) => ['filesystem.edit_file', { path, edits }]));
      const read = await callAll(paths.map((path) => ['filesystem.read_text_file', { path }]));
      return read.map(({ text }) => linesWith(text, 'timeout')[0]);
    },
    code: (folder) => `import json
from generated.mcp.filesystem import edit_file, list_directory, read_text_file
names = [line.split(" ", 1)[1] for line in (await list_directory(path="${folder}/config"))["content"].splitlines()]
now = []
for name in names:
    path = f"${folder}/config/{name}"
    await edit_file(path=path, edits=[{"oldText": "timeout = 30", "newText": "timeout = 60"}])
    text = (await read_text_file(path=path))["content"]
    now.append(next(line for line in text.splitlines() if "timeout" in line))
print(json.dumps(now))`,
  },
];

/** Names in what `list_directory` answers: `[FILE] name`. */
function namesIn(/** @type {{ text: string } | undefined} */ list) {
  return (list?.text ?? '').split('\n').map((line) => line.slice(line.indexOf(' ') + 1));
}

function linesWith(/** @type {string | undefined} */ text, /** @type {string} */ part) {
  return (text ?? '').split('\n').filter((line) => line.includes(part));
}

function rowsIn(/** @type {{ text: string } | undefined} */ csv) {
  const [, ...lines] = (csv?.text ?? '').trim().split('\n');
  return lines.map((line) => line.split(','));
}

/**
 * @param {{ name: string, type: string, children?: any[] }[]} entries
 * @param {string} above
 * @returns {string[]}
 */
function filesIn(entries, above) {
  return entries.flatMap(({ name, type, children = [] }) => (type === 'file' ? [above + name] : filesIn(children, `${above}${name}/`)));
}
