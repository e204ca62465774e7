// Tasks over the knowledge graph of server-memory.

/** @type {import('../tasks.mjs').Task[]} */
export const graphTasks = [
  {
    name: 'team as a graph',
    asks: 'Remember everybody in team.csv and who leads whom. Who leads the most people?',
    queries: ['read a text file', 'knowledge graph'],
    uses: ['filesystem.read_text_file', 'memory.create_entities', 'memory.create_relations', 'memory.open_nodes'],
    async direct(callAll, folder) {
      const [team] = await callAll([['filesystem.read_text_file', { path: `${folder}/team.csv` }]]);
      const rows = (team?.text ?? '')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(','));
      const entities = rows.map(([name]) => ({ name, entityType: 'person', observations: [] }));
      await callAll([['memory.create_entities', { entities }]]);
      const relations = rows.filter(([, lead]) => lead).map(([name, lead]) => ({ from: lead, to: name, relationType: 'leads' }));
      await callAll([['memory.create_relations', { relations }]]);
      const [opened] = await callAll([['memory.open_nodes', { names: rows.map(([name]) => name) }]]);
      return leaderIn(opened?.value.relations);
    },
    code: (folder) => `import collections, csv, json
from generated.mcp.filesystem import read_text_file
from generated.mcp.memory import create_entities, create_relations, open_nodes
rows = list(csv.DictReader((await read_text_file(path="${folder}/team.csv"))["content"].splitlines()))
await create_entities(entities=[{"name": row["name"], "entityType": "person", "observations": []} for row in rows])
await create_relations(relations=[{"from": row["lead"], "to": row["name"], "relationType": "leads"} for row in rows if row["lead"]])
graph = await open_nodes(names=[row["name"] for row in rows])
led = collections.Counter(relation["from"] for relation in graph["relations"])
print(json.dumps(led.most_common(1)[0]))`,
  },
  {
    name: 'expired contracts',
    asks: 'Note at each contract that has expired that it is to be renewed. How many are there, and what is noted at the first?',
    queries: ['search the knowledge graph, and add to it'],
    uses: ['memory.search_nodes', 'memory.add_observations', 'memory.open_nodes'],
    async direct(callAll) {
      const [found] = await callAll([['memory.search_nodes', { query: 'has expired' }]]);
      const names = found?.value.entities.map((/** @type {{ name: string }} */ { name }) => name);
      const observations = names.map((/** @type {string} */ entityName) => ({ entityName, contents: ['to be renewed'] }));
      await callAll([['memory.add_observations', { observations }]]);
      const [opened] = await callAll([['memory.open_nodes', { names: names.slice(0, 1) }]]);
      return { count: names.length, first: opened?.value.entities[0] };
    },
    code: () => `import json
from generated.mcp.memory import add_observations, open_nodes, search_nodes
names = [entity["name"] for entity in (await search_nodes(query="has expired"))["entities"]]
await add_observations(observations=[{"entityName": name, "contents": ["to be renewed"]} for name in names])
first = (await open_nodes(names=names[:1]))["entities"][0]
print(json.dumps({"count": len(names), "first": first}))`,
  },
];

/**
 * The one with the most relations, and how many.
 * @param {{ from: string }[]} relations
 */
function leaderIn(relations) {
  /** @type {Record<string, number>} */
  const led = {};
  for (const { from } of relations) led[from] = (led[from] ?? 0) + 1;
  return Object.entries(led).reduce((most, each) => (each[1] > most[1] ? each : most));
}
