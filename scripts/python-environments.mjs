// The packages of Python that tests and benchmarks ask for, by environment: as few environments as can live with one version of each package.
// What is installed stands in python-requirements.lock: after a change here, run `node scripts/python-env.mjs --lock`.
// `imports` are compiled when the environment is made: kernels in a sandbox may write nothing there, and would compile them at each start.

/** @type {Record<string, { packages: string[], imports?: string[] }>} */
export const environments = {
  /** Kernels and what people use in them, Jupyter's server, and the tools of Python's developers. */
  science: {
    packages: [
      ...['ipykernel==7.4.0', 'ipython', 'ipywidgets', 'jupyter-client', 'jupyter-server==2.21.1', 'nbformat', 'pip'],
      ...['numpy', 'pandas', 'matplotlib', 'scikit-learn', 'tqdm'],
      ...['altair', 'bokeh', 'plotly', 'vl-convert-python'],
      ...['mypy', 'pytest'],
    ],
    imports: ['ipykernel.kernelapp', 'ipywidgets', 'matplotlib.pyplot', 'pandas', 'sklearn.linear_model'],
  },
  /** JupyterLab with what makes its documents shared. */
  collaboration: { packages: ['jupyterlab~=4.6.0', 'jupyter-collaboration~=5.0.0'] },
  /** Clients and servers of MCP, and validators. */
  agents: {
    packages: [
      ...['agent-codemode==1.1.1', 'fastmcp==4.1.6', 'mcp>=2,<3', 'mcp-server-time==2026.10.19'],
      ...['pydantic-ai-slim>=2.21.0,<3', 'pydantic-graph>=2.21.0,<3'],
      ...['check-jsonschema==0.39.0', 'kubernetes-validate==1.37.0', 'PyYAML==6.0.3', 'schemathesis==4.32.5'],
    ],
  },
  /** The generation before: JupyterLab without shared documents, and MCP before its version of 2026. */
  older: { packages: ['jupyterlab==4.5.11', 'fastmcp>=2.14,<3', 'mcp>=1.30,<2'] },
  /** Of benchmarks alone. */
  peer: { packages: ['jupyter-mcp-server'] },
};

/** Used only where it is there: it builds a parser for addresses at each import, and each start of Jupyter's server would take two seconds more. */
export const leftOut = ['rfc3987-syntax', 'lark'];
