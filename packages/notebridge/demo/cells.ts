/** What the agent writes. Every image has to come from Python's standard library: nothing else is installed. */
export const introduction = `# The Mandelbrot set

Drawn by an agent, with nothing but Python's standard library.`;

export const pictureSize = { width: 300, height: 200 };

export const drawing = `import struct, zlib
from IPython.display import Image

width, height = ${pictureSize.width}, ${pictureSize.height}

def colour(x, y):
    c, z, n = complex(x / 100 - 2.1, y / 100 - 1), 0, 0
    while abs(z) < 2 and n < 30:
        z, n = z * z + c, n + 1
    return (0, 0, 0) if n == 30 else (8 * n, 4 * n + 40, 160 - 2 * n)

def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

rows = b"".join(b"\\0" + bytes(part for x in range(width) for part in colour(x, y)) for y in range(height))
head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
Image(b"\\x89PNG\\r\\n\\x1a\\n" + b"".join(png_chunk(kind, data) for kind, data in chunks))`;

/** The most that the chart shows. */
export const maxBars = 12;

/** Calls the filesystem server, whose functions are there without any set-up, and draws what it has found. */
export function toolCalls(folder: string): string {
  return `import asyncio, html, json
from generated.mcp.filesystem import directory_tree, get_file_info
from IPython.display import SVG

folder = ${JSON.stringify(folder)}

def files_in(entries, path=""):
    for entry in entries:
        below = entry.get("children")
        yield from [path + entry["name"]] if below is None else files_in(below, path + entry["name"] + "/")

async def size_of(file):
    about = await get_file_info(path=f"{folder}/{file}")
    return int(about["content"].split("size: ")[1].split()[0])

tree = await directory_tree(path=folder)
files = list(files_in(json.loads(tree["content"])))
sizes = dict(zip(files, await asyncio.gather(*map(size_of, files))))
shown = sorted(sizes.items(), key=lambda item: -item[1])[:${maxBars}]

def bar(row, file, size):
    length, y = 260 * size / shown[0][1] + 1, 26 * row + 20
    name = f'<text x="190" y="{y + 12}" text-anchor="end">{html.escape(file)}</text>'
    return f'{name}<rect x="200" y="{y}" width="{length:.0f}" height="16" fill="#3457b2"/><text x="{length + 208:.0f}" y="{y + 12}">{size:,}</text>'

bars = "".join(bar(row, *item) for row, item in enumerate(shown))
style = f'width="560" height="{26 * len(shown) + 28}" style="background: white" font-family="sans-serif" font-size="12"'
SVG(f'<svg xmlns="http://www.w3.org/2000/svg" {style}>{bars}</svg>')`;
}

/** A typo, and the same cell fixed. */
export const wrongCount = 'f"{widht * height:,} points"';
export const rightCount = 'f"{width * height:,} points"';
export const countedText = "'60,000 points'";
