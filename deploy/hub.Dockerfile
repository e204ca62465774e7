# The hub, with the MCP servers that it starts. Built at the root of the project:
#   docker build --file deploy/hub.Dockerfile --tag notebridge-hub .
# The image below it. A release names it by digest: --build-arg NODE=node:22-slim@sha256:…
ARG NODE=node:22-slim

FROM ${NODE} AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts && npm run build
# Once more, with what the running program needs and nothing else.
RUN npm ci --ignore-scripts --omit=dev --workspace=notebridge --workspace=@notebridge/notebook

FROM ${NODE}
# The first process of a container has to collect what others leave behind; tini does, Node does not.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
# The servers that mcp.json names, with their versions: nothing is fetched while the hub runs.
ARG MCP_SERVERS="@modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-everything@2026.8.31"
RUN if [ -n "${MCP_SERVERS}" ]; then npm install --global --ignore-scripts ${MCP_SERVERS}; fi && npm cache clean --force
# What Notebridge loads only where the config asks for it: the client of NATS for a cluster. (Those of OpenTelemetry for traces, if you name them.)
ARG OPTIONAL_PACKAGES="@nats-io/transport-node@3.4.0 @nats-io/jetstream@3.4.0"
RUN if [ -n "${OPTIONAL_PACKAGES}" ]; then npm install --prefix /opt --ignore-scripts ${OPTIONAL_PACKAGES}; fi && npm cache clean --force
COPY --from=build /src/node_modules /opt/notebridge/node_modules
COPY --from=build /src/packages/notebridge /opt/notebridge/packages/notebridge
COPY --from=build /src/packages/notebook /opt/notebridge/packages/notebook
COPY deploy/healthy.mjs /opt/notebridge/healthy.mjs
COPY deploy/mcp.json /etc/notebridge/mcp.json
# A new named volume takes over owner and mode of the folder that it is mounted on.
RUN ln -s /opt/notebridge/packages/notebridge/bin/notebridge.js /usr/local/bin/notebridge \
    && install -d -o node -g node -m 0700 /var/lib/notebridge /run/notebridge \
    && install -d -o node -g node -m 0755 /mnt/shared-agent /srv/files
# A number, so that Kubernetes can see that it is not root.
USER 1000:1000
# There is no bubblewrap here, so code mode would run code without the operating system's layer: it runs none, unless this says `auto`.
ENV NODE_ENV=production XDG_STATE_HOME=/var/lib/notebridge NOTEBRIDGE_SANDBOX=require
EXPOSE 8765
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "/opt/notebridge/healthy.mjs"]
ENTRYPOINT ["tini", "--", "notebridge"]
CMD ["serve", "--config", "/etc/notebridge/mcp.json", "--notebook", "none", "--shared-dir", "/mnt/shared-agent"]
