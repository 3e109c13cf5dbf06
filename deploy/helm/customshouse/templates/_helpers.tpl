{{- define "customshouse.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "customshouse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "customshouse.labels" -}}
{{ include "customshouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "customshouse.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "customshouse.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* True if there can be more than one node. */}}
{{- define "customshouse.hasNodes" -}}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}true{{- end -}}
{{- end -}}

{{/* `service.yaml`: the values under `config`, and what the other values mean in it. */}}
{{- define "customshouse.configuration" -}}
{{- $own := dict "server" (dict "host" "0.0.0.0" "port" 8000) "state_dir" "/var/lib/customshouse" -}}
{{- with .Values.postgresql -}}
{{- if .enabled -}}
{{- $url := printf "postgres://%s:${CUSTOMSHOUSE_STORE_PASSWORD}@%s:%d/%s" .user .host (int .port) .database -}}
{{- $_ := set $own "storage" (dict "url" (ternary (printf "%s?%s" $url .options) $url (ne .options ""))) -}}
{{- end -}}
{{- end -}}
{{- if .Values.cluster.existingSecret -}}
{{- $_ := set $own "cluster" (dict "enabled" true "node_id" "${CUSTOMSHOUSE_NODE_ID}" "secret" "${CUSTOMSHOUSE_CLUSTER_SECRET}") -}}
{{- $_ := set $own "audit" (dict "index" "postgres") -}}
{{- end -}}
{{- if .Values.monitoring.enabled -}}
{{- $_ := set $own "metrics" (dict "public" true) -}}
{{- end -}}
{{- mergeOverwrite (deepCopy .Values.config) $own | toYaml -}}
{{- end -}}

{{/* Refuses values that render, and that would lose or mix up state. */}}
{{- define "customshouse.check" -}}
{{- if include "customshouse.hasNodes" . -}}
{{- if not .Values.postgresql.enabled -}}
{{- fail "More than one node needs a shared store: set postgresql.enabled, postgresql.host and postgresql.existingSecret." -}}
{{- end -}}
{{- if not .Values.cluster.existingSecret -}}
{{- fail "Nodes need the same keys: create a Secret with cluster-secret, 32 characters or more, and name it in cluster.existingSecret." -}}
{{- end -}}
{{- end -}}
{{- if and .Values.cluster.existingSecret (not .Values.postgresql.enabled) -}}
{{- fail "cluster.existingSecret needs a shared store: set postgresql.enabled, postgresql.host and postgresql.existingSecret." -}}
{{- end -}}
{{- if and .Values.postgresql.enabled (not (and .Values.postgresql.host .Values.postgresql.existingSecret)) -}}
{{- fail "postgresql.enabled needs postgresql.host and postgresql.existingSecret." -}}
{{- end -}}
{{- end -}}
