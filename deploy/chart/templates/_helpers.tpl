{{- /* The name of everything here: the release's, with the chart's unless that is in it. */ -}}
{{- define "notebridge.name" -}}
{{- $name := ternary .Release.Name (printf "%s-notebridge" .Release.Name) (contains "notebridge" .Release.Name) -}}
{{- $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "notebridge.selector" -}}
app.kubernetes.io/name: notebridge
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "notebridge.labels" -}}
{{ include "notebridge.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "notebridge.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}{{ $image.repository }}@{{ $image.digest }}{{- else -}}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end -}}

{{- /*
The names by which callers name the hubs, in every length that resolves: of the Service, of the one without an address, and of this pod below
that; and the pod's own address, by which Prometheus scrapes it. Kubernetes puts in what stands in $(…).
*/ -}}
{{- define "notebridge.hosts" -}}
{{- $name := include "notebridge.name" . -}}
{{- $own := list "$(POD_IP)" -}}
{{- range list $name (printf "%s-hubs" $name) (printf "$(HUB_NAME).%s-hubs" $name) -}}
{{- $inNamespace := printf "%s.%s" . $.Release.Namespace -}}
{{- $own = concat $own (list . $inNamespace (printf "%s.svc" $inNamespace) (printf "%s.svc.%s" $inNamespace $.Values.clusterDomain)) -}}
{{- end -}}
{{- $ingress := ternary .Values.ingress.hosts list .Values.ingress.enabled -}}
{{- concat $own $ingress .Values.allowHosts | uniq | toJson -}}
{{- end -}}

{{- /* mcp.json. HUB_NAME is the name of the pod. */ -}}
{{- define "notebridge.config" -}}
{{- $notebridge := deepCopy .Values.notebridge -}}
{{- if .Values.metrics.enabled -}}
{{- $telemetry := dict "metrics" true -}}
{{- if .Values.metrics.tokens.secret }}{{- $_ := set $telemetry "scrapeTokens" "/etc/notebridge-scrape" -}}{{- end -}}
{{- $_ := set $notebridge "telemetry" (merge $telemetry (default dict $notebridge.telemetry)) -}}
{{- end -}}
{{- with .Values.cluster -}}
{{- if .urls -}}
{{- $cluster := dict "url" .urls "name" .name "hubName" "${HUB_NAME}" "key" "/etc/notebridge-cluster/key" "drainMs" (mul $.Values.drain.seconds 1000) "audit" false -}}
{{- if .audit.enabled }}{{- $_ := set $cluster "audit" (dict "maxDays" (int64 .audit.maxDays) "maxBytes" (int64 .audit.maxBytes)) -}}{{- end -}}
{{- if .replicas }}{{- $_ := set $cluster "replicas" (int64 .replicas) -}}{{- end -}}
{{- if .credentials.secret }}{{- $_ := set $cluster "credentials" "/etc/notebridge-cluster/nats.creds" -}}{{- end -}}
{{- if .tls.secret -}}
{{- $tls := dict "ca" "/etc/notebridge-cluster/ca.crt" -}}
{{- if .tls.clientCertificate }}{{- $_ := merge $tls (dict "cert" "/etc/notebridge-cluster/tls.crt" "key" "/etc/notebridge-cluster/tls.key") -}}{{- end -}}
{{- $_ := set $cluster "tls" $tls -}}
{{- end -}}
{{- $_ := set $notebridge "cluster" $cluster -}}
{{- end -}}
{{- end -}}
{{- dict "mcpServers" .Values.mcpServers "notebridge" $notebridge | toPrettyJson -}}
{{- end -}}

{{- /* What the schema of the values cannot say in words. */ -}}
{{- define "notebridge.check" -}}
{{- $cluster := .Values.cluster -}}
{{- if and (or (gt (int .Values.hubs) 1) .Values.scaledByOthers) (not $cluster.urls) -}}
{{- fail (printf "hubs: %d of them need a cluster. Set cluster.urls to the addresses of NATS, or hubs to 1 and scaledByOthers to false." (int .Values.hubs)) -}}
{{- end -}}
{{- if and $cluster.urls (not $cluster.key.secret) -}}
{{- fail "cluster.key.secret: name the Secret with the key of the cluster, 32 characters or more. values.yaml has the command that makes one." -}}
{{- end -}}
{{- $usesTls := or $cluster.tls.secret (contains "tls://" ($cluster.urls | join " ")) -}}
{{- $isKnown := or $cluster.credentials.secret (and $cluster.tls.secret $cluster.tls.clientCertificate) -}}
{{- if and $cluster.urls (not (and $usesTls $isKnown)) (not $cluster.insecure) -}}
{{- fail "cluster: who reads the wire to NATS would read arguments and results, and who reaches NATS could write there. Set cluster.tls.secret (or addresses that begin with tls://) and cluster.credentials.secret (or cluster.tls.clientCertificate); docs/cluster.md has the commands. Or say cluster.insecure: true." -}}
{{- end -}}
{{- if hasKey .Values.notebridge "cluster" -}}
{{- fail "notebridge.cluster is written by the chart. Set the values below cluster instead." -}}
{{- end -}}
{{- $metrics := .Values.metrics -}}
{{- if and $metrics.podMonitor.enabled (not (and $metrics.enabled $metrics.tokens.secret)) -}}
{{- fail "metrics.podMonitor: there is nothing to scrape, or no token for it. Set metrics.enabled, and metrics.tokens.secret to the name of the Secret with the token. values.yaml has the command that makes one." -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.hosts: name at least one host. Hubs answer only to names that they were told." -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.tlsSecret) (not .Values.ingress.tlsElsewhere) -}}
{{- fail "ingress.tlsSecret: name the Secret with the certificate, since tokens would be read on the way; or set ingress.tlsElsewhere to true where the controller, or what stands before it, has one." -}}
{{- end -}}
{{- if and (eq .Values.sandbox "auto") (or $cluster.urls .Values.ownerToken.secret) (not .Values.codeMayTakeKeys) -}}
{{- fail "sandbox: with auto, code of agents that finds a way out has what the pod has: the key of the cluster, the owner's token, the keys of all servers. Leave it at require and give pods the layer (docs/kernels.md), or set codeMayTakeKeys to true." -}}
{{- end -}}
{{- end -}}
