# Jupyter beside the hub. It holds no key of any server: code finds the hub by NOTEBRIDGE_URL and a token by NOTEBRIDGE_TOKEN_FILE.
# Built at the root of the project:
#   docker build --file deploy/jupyter.Dockerfile --tag notebridge-jupyter .
# The image below it. A release names it by digest: --build-arg PYTHON=python:3.12-slim@sha256:…
ARG PYTHON=python:3.12-slim
FROM ${PYTHON}
# tqdm: calls that report progress show a bar.
RUN pip install --no-cache-dir jupyterlab==4.5.11 ipykernel==7.4.0 tqdm==4.70.1
# The same number as the hub's user: the token file is for one user alone.
RUN useradd --uid 1000 --create-home --home-dir /srv/jupyter jupyter \
    && install -d -o jupyter -g jupyter -m 0700 /run/notebridge \
    && install -d -o jupyter -g jupyter -m 0755 /mnt/shared-agent /srv/jupyter/work
# For a pod of its own, see kubernetes/two-pods.yaml; for the way to it, compose.yaml.
COPY deploy/exchange.py deploy/bindings.py deploy/front.py /opt/notebridge/
USER 1000:1000
WORKDIR /srv/jupyter/work
# `import generated` finds the bindings that the hub writes to the shared folder.
ENV PYTHONPATH=/mnt/shared-agent NOTEBRIDGE_TOKEN_FILE=/run/notebridge/token
EXPOSE 2300
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:2300/api', timeout=4)"]
CMD ["python", "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=0.0.0.0", "--ServerApp.port=2300", "--LabApp.extension_manager=readonly"]
