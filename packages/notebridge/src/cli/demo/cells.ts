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

/** A slip of the pen, and the same mended. */
export const wrongCount = 'f"{widht * height:,} points"';
export const rightCount = 'f"{width * height:,} points"';
export const countedText = "'60,000 points'";
