// What makes the board a session for agents: three tools, and a line that shows who is connected and what they do.
import { createBoard, size } from './board.js';
import { askInDialog, createPageSession, describeState } from './page.min.js';

const colors = ['#1b1b1f', '#d1342b', '#e39b1f', '#2c8a4b', '#1d5fd1', '#8a3fb0'];
const strokeMs = 150;

const board = createBoard(find('board', HTMLCanvasElement), () => ({
  color: document.querySelector('#colors input:checked')?.getAttribute('value') ?? colors[0],
  width: Number(find('width', HTMLInputElement).value),
}));

const session = createPageSession({
  name: 'drawing-board',
  version: '1.0.0',
  title: 'Drawing board',
  instructions: `A board of ${size.width} × ${size.height} units that a person sees and draws on too. (0, 0) is the top left corner.`,
  // The page shows by itself who is connected.
  consent: (request) => askInDialog(request, { notice: false }),
  tools: [
    {
      name: 'draw',
      description: 'Draws strokes, one after the other, over what is there.',
      inputSchema: {
        properties: {
          strokes: {
            type: 'array',
            minItems: 1,
            items: {
              type: 'object',
              properties: {
                points: { type: 'array', minItems: 1, items: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 } },
                color: { type: 'string', description: 'A CSS colour; black by default.' },
                width: { type: 'number', minimum: 1, maximum: 50, description: 'In units; 6 by default.' },
              },
              required: ['points'],
            },
          },
        },
        required: ['strokes'],
      },
      async run({ strokes }, { signal, progress }) {
        for (const [index, stroke] of strokes.entries()) {
          signal.throwIfAborted();
          board.add(stroke);
          progress(index + 1, strokes.length);
          // A person likes to watch; a tab in the background has nobody who does.
          if (!document.hidden) await new Promise((resolve) => setTimeout(resolve, strokeMs));
        }
        return { drawn: strokes.length };
      },
    },
    {
      name: 'look',
      description: 'Shows the drawing as an image.',
      annotations: { readOnlyHint: true },
      run: () => ({ content: [{ type: 'image', data: board.toPng(), mimeType: 'image/png' }] }),
    },
    { name: 'clear', description: 'Wipes the board.', annotations: { destructiveHint: true }, run: () => board.clear() },
  ],
  resources: [
    {
      uri: 'board://strokes',
      name: 'strokes',
      description: 'All strokes, oldest first.',
      mimeType: 'application/json',
      read: () => board.strokes,
    },
  ],
});

const running = new Set();
session.on('state', showState);
session.on('call', showCall);
setUpControls();
showState(session.state);
await session.connect();

function showState(state) {
  find('status', HTMLElement).dataset.status = state.status;
  find('status-text', HTMLElement).textContent = describeState(state);
  const isOff = state.status === 'idle' || state.status === 'disconnected';
  find('connect', HTMLElement).hidden = !isOff;
  find('disconnect', HTMLElement).hidden = isOff;
}

function showCall({ type, call, progress, total }) {
  if (type === 'ended') running.delete(call);
  else running.add(call);
  const shown = [...running].at(-1);
  find('activity', HTMLElement).hidden = shown === undefined;
  find('activity-text', HTMLElement).textContent = shown === undefined ? '' : `${shown.agent.name} uses “${shown.tool}”`;
  const bar = find('activity-progress', HTMLProgressElement);
  bar.removeAttribute('value');
  if (total !== undefined) Object.assign(bar, { max: total, value: progress });
}

function setUpControls() {
  for (const [index, value] of colors.entries()) {
    const input = document.createElement('input');
    Object.assign(input, { type: 'radio', name: 'color', value, checked: index === 0, ariaLabel: `Colour ${index + 1}` });
    input.style.setProperty('--color', value);
    find('colors', HTMLElement).append(input);
  }
  const dialog = find('entry', HTMLDialogElement);
  const text = find('entry-text', HTMLInputElement);
  const fault = find('entry-fault', HTMLElement);
  find('clear', HTMLElement).addEventListener('click', () => board.clear());
  find('stop', HTMLElement).addEventListener('click', () => [...running].at(-1)?.stop());
  find('disconnect', HTMLElement).addEventListener('click', () => session.disconnect());
  find('entry-cancel', HTMLElement).addEventListener('click', () => dialog.close());
  find('connect', HTMLElement).addEventListener('click', () => {
    text.value = '';
    fault.hidden = true;
    dialog.showModal();
  });
  dialog.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const state = await session.connectManually(text.value);
      fault.textContent = state.status === 'connected' ? '' : describeState(state);
    } catch (error) {
      fault.textContent = error.message;
    }
    fault.hidden = fault.textContent === '';
    if (fault.hidden) dialog.close();
  });
}

function find(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`index.html has no #${id}`);
  return element;
}
