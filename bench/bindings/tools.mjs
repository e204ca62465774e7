// Tools as servers have them: some texts, a handful of parameters, an enum, a list of objects, a result. The same for the same numbers.
const nouns = ['issue', 'branch', 'release', 'comment', 'label', 'review', 'file', 'team', 'secret', 'workflow'];
const verbs = ['list', 'create', 'update', 'delete', 'search', 'close', 'merge', 'export', 'import', 'compare'];

/** What an emitter takes: servers of 1,000 tools each. */
export function bindingsInput(toolCount) {
  const servers = Array.from({ length: Math.ceil(toolCount / 1000) }, (_, server) => ({
    name: `server_${server}`,
    description: `Server no. ${server} of the bench.`,
    tools: Array.from({ length: Math.min(1000, toolCount - server * 1000) }, (_, tool) => toTool(tool)).sort(byName),
  }));
  return { servers: servers.sort(byName), skills: false, hubUrl: 'http://127.0.0.1:8765/api/v1/mcp/proxy' };
}

export function toolName(index) {
  return `${verbs[index % 10]}_${nouns[Math.floor(index / 10) % 10]}_${String(index).padStart(4, '0')}`;
}

function toTool(index) {
  const [verb, noun] = [verbs[index % 10], nouns[Math.floor(index / 10) % 10]];
  const text = (description) => ({ type: 'string', description });
  const person = { type: 'object', properties: { name: text('As shown.'), email: text('An address.') }, required: ['name'] };
  const properties = {
    owner: text(`Who owns the ${noun}.`),
    repo: text('The repository, without its owner.'),
    state: { type: 'string', enum: ['open', 'closed', 'all'], default: 'open', description: `Which ${noun} is meant.` },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 30, description: 'How many, at most.' },
    labels: { type: 'array', items: { type: 'string' } },
    people: { type: 'array', items: person, description: 'Whom to tell.' },
    [`${noun}_options`]: { type: 'object', additionalProperties: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
  };
  return {
    name: toolName(index),
    description: `${verb} a ${noun} of a repository.\n\nTakes what the ${noun} has, and answers with what became of it; no. ${index}.`,
    inputSchema: { type: 'object', properties, required: ['owner', 'repo'] },
    outputSchema: { type: 'object', properties: { id: { type: 'integer' }, url: { type: 'string' }, by: person }, required: ['id'] },
    annotations: { readOnlyHint: verb === 'list' || verb === 'search' },
  };
}

function byName(one, other) {
  return one.name < other.name ? -1 : 1;
}
