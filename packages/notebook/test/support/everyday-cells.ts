/** A cell as people write them every day, and what has to come of it in their own Python. */
export interface EverydayCell {
  name: string;
  code: string;
  /** Default `ok`. */
  status?: 'ok' | 'error';
  /** In the texts of its outputs, tracebacks too, one below the other. */
  text?: RegExp;
  /** The exception of an `error`. */
  error?: string;
  /** What its outputs are shown as, besides text. */
  type?: string;
  /** What a window shows for it: a part of the cell that is there and seen. */
  element?: string;
  /** A window draws it in a frame, so that no text of it stands in the page. */
  isFramed?: true;
  /** What a person reads in a window, where it is not `text`. */
  seen?: RegExp;
  /** What a person answers in a window to what it asks; it ends well then. */
  answer?: string;
}

/** The files beside the notebook. */
export const everydayFiles: Readonly<Record<string, string>> = {
  'data.csv': 'name,points\nAda,3\nGrace,5\n',
  'greet.py': 'import sys\nname = sys.argv[1] if len(sys.argv) > 1 else "nobody"\nprint("hello", name)\nleft = 42\n',
};

const image = { type: 'image/png', element: 'img' };

/** The sixteen that were tried first, of which twelve failed in a notebook that had only Pyodide. */
export const sixteenCells: readonly EverydayCell[] = [
  { name: 'import numpy', code: 'import numpy as np\nnp.arange(6).reshape(2, 3).sum(axis=1)', text: /array\(\[ 3, 12\]\)/ },
  { name: 'import pandas', code: 'import pandas as pd\npd.Series([1, 2, 3]).mean()', text: /2\.0/ },
  { name: 'read_csv', code: 'frame = pd.read_csv("data.csv")\nframe', text: /Grace/, type: 'text/html', element: 'table' },
  { name: 'matplotlib', code: 'import matplotlib.pyplot as plt\nplt.plot([1, 4, 9]);', ...image },
  { name: 'open a file', code: 'open("data.csv").readline()', text: /name,points/ },
  { name: '%pip', code: '%pip --version', text: /pip \d+\.\d+.*site-packages/ },
  { name: '!ls', code: '!ls', text: /data\.csv +greet\.py/ },
  { name: 'input()', code: 'input("Your name? ")', status: 'error', text: /[Ii]nput/, answer: 'Ada', seen: /^'Ada'$/ },
  { name: '%timeit', code: '%timeit -n 100 -r 2 sum(range(10))', text: /per loop/ },
  { name: 'x?', code: 'len?', text: /number of items/ },
  { name: '?x', code: '?frame.mean', text: /mean/ },
  { name: '%%time', code: '%%time\ntotal = sum(range(1000))\ntotal', text: /Wall time[^]*499500|499500[^]*Wall time/ },
  { name: '%%bash', code: '%%bash\nfor i in 1 2 3; do echo "line $i"; done', text: /line 1\nline 2\nline 3/ },
  { name: '%who', code: '%who int', text: /total/ },
  { name: '%env', code: '%env EVERYDAY=yes\nimport os\nos.environ["EVERYDAY"]', text: /'yes'/ },
  { name: '%pwd', code: '%pwd', text: /everyday/ },
];

/** More of what notebooks are full of. */
export const moreCells: readonly EverydayCell[] = [
  {
    name: 'Markdown',
    code: 'from IPython.display import *\nMarkdown("**bold** text")',
    type: 'text/markdown',
    element: 'strong',
    seen: /^bold text$/,
  },
  { name: 'HTML', code: 'HTML("<b>strong</b> words")', type: 'text/html', element: 'b', seen: /^strong words$/ },
  { name: 'Latex', code: 'Latex(r"$\\frac{a}{b}$")', type: 'text/latex', element: '.katex .mfrac' },
  { name: 'Math', code: 'Math(r"\\sum_{i=0}^n i")', type: 'text/latex', element: '.katex .mop' },
  { name: 'JSON', code: 'JSON({"a": [1, 2]})', type: 'application/json', seen: /"a": \[\s*1,\s*2\s*\]/ },
  {
    name: 'SVG',
    code: "SVG(\"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>\")",
    type: 'image/svg+xml',
    element: 'img',
  },
  { name: 'a figure that is returned', code: 'fig, ax = plt.subplots()\nax.bar(["a", "b"], [1, 2])\nplt.show()', ...image },
  { name: 'DataFrame.plot', code: 'frame.plot(x="name", y="points", kind="bar");', ...image },
  { name: 'describe', code: 'frame.describe()', text: /mean/, type: 'text/html', element: 'table' },
  {
    name: 'a frame of a million rows',
    code: 'pd.DataFrame({"n": np.arange(1_000_000)})',
    text: /1000000 rows/,
    type: 'text/html',
    element: 'table',
  },
  {
    name: 'to_csv',
    code: 'frame.assign(points=frame.points * 2).to_csv("out.csv", index=False)\nprint(open("out.csv").read())',
    text: /Ada,6/,
  },
  {
    name: 'scikit-learn',
    code: 'from sklearn.linear_model import LinearRegression\nmodel = LinearRegression().fit([[1], [2], [3]], [2, 4, 6])\nround(float(model.predict([[10]])[0]))',
    text: /20/,
  },
  { name: 'an estimator', code: 'model', text: /LinearRegression\(\)/, isFramed: true },
  {
    name: 'a widget',
    code: 'import ipywidgets as widgets\nslider = widgets.IntSlider(value=7, description="n")\nslider',
    // What it shows, as an agent reads it; in a window it is drawn.
    text: /^n: 7$/,
    type: 'application/vnd.jupyter.widget-view+json',
    isFramed: true,
  },
  { name: 'a widget that is set', code: 'slider.value = 9\nslider.value', text: /9/ },
  { name: 'display twice', code: 'display(1, 2)\nprint("and", "text")', text: /1\n2\nand text/ },
  { name: 'update_display', code: 'handle = display("before", display_id=True)\nhandle.update("after")', text: /^'after'$/ },
  { name: 'update_display later', code: 'handle.update("much later")\n"done"', text: /done/ },
  { name: 'clear_output', code: 'for i in range(3):\n    clear_output(wait=True)\n    print("step", i)', text: /^step 2$/ },
  { name: '\\r', code: 'for i in range(0, 101, 25):\n    print(f"\\r{i}%", end="", flush=True)', text: /100%/ },
  {
    name: 'progress',
    code: 'import time\nfor i in range(5):\n    print("step", i, flush=True)\n    time.sleep(0.05)',
    text: /step 0\n[^]*step 4/,
  },
  { name: 'stderr', code: 'import sys\nprint("to stderr", file=sys.stderr)', text: /to stderr/ },
  { name: 'logging', code: 'import logging\nlogging.warning("low on %s", "tea")', text: /WARNING:root:low on tea/ },
  { name: 'warnings', code: 'import warnings\nwarnings.warn("old")', text: /UserWarning: old/ },
  {
    name: 'await',
    code: 'import asyncio\nawait asyncio.sleep(0.01)\nawait asyncio.gather(*(asyncio.sleep(0, n) for n in range(3)))',
    text: /\[0, 1, 2\]/,
  },
  {
    name: 'threads',
    code: 'from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool:\n    print(list(pool.map(str.upper, "ab")))',
    text: /\['A', 'B'\]/,
  },
  {
    name: 'multiprocessing',
    code: 'import multiprocessing\nwith multiprocessing.get_context("fork").Pool(2) as pool:\n    print(pool.map(abs, [-1, -2]))',
    text: /\[1, 2\]/,
  },
  {
    name: 'subprocess',
    code: 'import subprocess\nsubprocess.run(["echo", "out"], capture_output=True, text=True).stdout',
    text: /'out\\n'/,
  },
  { name: 'a child that prints', code: 'subprocess.run(["echo", "from a child"]).returncode', text: /0/ },
  { name: '!command in an expression', code: 'files = !ls *.csv\nn = 3\n!echo {n} files\nsorted(files)', text: /3 files\n[^]*data\.csv/ },
  { name: '%%writefile', code: '%%writefile mine.py\ndef twice(x):\n    return 2 * x', text: /Writing mine\.py/ },
  { name: 'import of a file beside it', code: 'from mine import twice\ntwice(21)', text: /42/ },
  { name: '%run', code: '%run greet.py Ada\nleft', text: /hello Ada\n[^]*42/ },
  { name: '%cd', code: '%cd ..\n%cd -q -\nos.path.exists("data.csv")', text: /True/ },
  { name: '%%capture', code: '%%capture kept\nprint("hidden")', text: /^$/ },
  { name: 'what was captured', code: 'kept.stdout', text: /'hidden\\n'/ },
  {
    name: '%matplotlib',
    code: '%matplotlib inline\n%config InlineBackend.figure_format = "svg"\nplt.plot([1, 2]);',
    type: 'image/svg+xml',
    element: 'img',
  },
  { name: '%load_ext', code: '%load_ext autoreload\n%autoreload 2', text: /^$/ },
  { name: '%%html', code: '%%html\n<i>slanted</i>', type: 'text/html', element: 'i', seen: /^slanted$/ },
  { name: 'help()', code: 'help(len)', text: /Return the number of items/ },
  { name: 'the last value', code: '6 * 7\n_ = 1\ndel _\nOut is not None and In[-1][:5]', text: /'6 \* 7'|'6 \* '/ },
  { name: 'unicode', code: 'größe = 3\nprint("héllo 🐍 日本", größe)', text: /héllo 🐍 日本 3/ },
  { name: 'sys.executable', code: 'sys.executable', text: /venv-science\/bin\/python/ },
  { name: 'an exception', code: '1 / 0', status: 'error', error: 'ZeroDivisionError', text: /division by zero/ },
  {
    name: 'an exception from another',
    code: 'try:\n    {}["a"]\nexcept KeyError as cause:\n    raise ValueError("no a") from cause',
    status: 'error',
    error: 'ValueError',
    text: /KeyError[^]*direct cause[^]*ValueError: no a/,
  },
  { name: 'a syntax error', code: 'for\n', status: 'error', error: 'SyntaxError', text: /invalid syntax/ },
  { name: 'a name that is not there', code: 'nope', status: 'error', error: 'NameError', text: /nope/ },
  { name: 'a module that is not there', code: 'import nosuchmodule', status: 'error', error: 'ModuleNotFoundError', text: /nosuchmodule/ },
  { name: 'SystemExit', code: 'import sys\nsys.exit("enough")', status: 'error', error: 'SystemExit', text: /enough/ },
  { name: 'after SystemExit', code: 'twice(4)', text: /8/ },
  { name: 'a magic that is not there', code: '%nosuch', status: 'error', text: /nosuch/ },
  { name: '100,000 lines', code: 'for i in range(100_000): print("line", i)', text: /line 99999/ },
];

export const everydayCells: readonly EverydayCell[] = [...sixteenCells, ...moreCells];
