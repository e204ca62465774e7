// Tasks with the tools of server-everything: calls that wait for one another, structured content, an image.

const cities = ['New York', 'Chicago', 'Los Angeles'];

/** @type {import('../tasks.mjs').Task[]} */
export const otherTasks = [
  {
    name: 'sum, step by step',
    asks: 'Add up the numbers in numbers.txt, with the tool for sums, one after the other.',
    queries: ['read a text file', 'add two numbers'],
    uses: ['filesystem.read_text_file', 'everything.get-sum'],
    async direct(callAll, folder) {
      const [file] = await callAll([['filesystem.read_text_file', { path: `${folder}/numbers.txt` }]]);
      const [first = 0, ...others] = (file?.text ?? '').trim().split('\n').map(Number);
      let total = first;
      for (const number of others) {
        const [sum] = await callAll([['everything.get-sum', { a: total, b: number }]]);
        total = Number(/is (-?\d+)/.exec(sum?.text ?? '')?.[1]);
      }
      return total;
    },
    code: (folder) => `import re
from generated.mcp.everything import get_sum
from generated.mcp.filesystem import read_text_file
total, *others = map(int, (await read_text_file(path="${folder}/numbers.txt"))["content"].split())
for number in others:
    total = int(re.search(r"is (-?\\d+)", await get_sum(a=total, b=number))[1])
print(total)`,
  },
  {
    name: 'mean temperature',
    asks: `What is the mean temperature of ${cities.join(', ')}, in tenths of a degree?`,
    queries: ['weather of a city'],
    uses: ['everything.get-structured-content'],
    async direct(callAll) {
      const all = await callAll(cities.map((location) => ['everything.get-structured-content', { location }]));
      return Math.floor((all.reduce((sum, { value }) => sum + value.temperature, 0) * 10) / all.length);
    },
    code: () => `import asyncio
from generated.mcp.everything import get_structured_content
all = await asyncio.gather(*(get_structured_content(location=city) for city in ${JSON.stringify(cities)}))
print(int(sum(each["temperature"] for each in all) * 10 // len(all)))`,
  },
  {
    name: 'size of a picture',
    asks: 'Of what type is the tiny image, and how many bytes has it?',
    queries: ['tiny image'],
    uses: ['everything.get-tiny-image'],
    async direct(callAll) {
      const [answer] = await callAll([['everything.get-tiny-image', {}]]);
      const image = answer?.content.find(({ type }) => type === 'image');
      return [image.mimeType, Buffer.from(image.data, 'base64').length];
    },
    code: () => `import json
from generated.mcp.everything import get_tiny_image
image = next(block for block in await get_tiny_image() if type(block).__name__ == "Image")
print(json.dumps([image.mime_type, len(image.data)]))`,
  },
];
