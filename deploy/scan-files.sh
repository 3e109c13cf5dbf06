#!/bin/sh
# Scans files by the rules of a configuration, or else by the built-in rules: scan-files.sh [--config FILE] FILE ...
# The pre-commit hook and the GitHub Action call it. It prints no content. Ends with 1 if a file is blocked.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
config=
if [ "${1-}" = --config ]; then
  config=$2
  shift 2
fi
[ $# -gt 0 ] || exit 0
if [ -z "$config" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  # A scan of one's own files is no decision about an agent, so nothing is kept of it.
  printf 'audit: {enabled: false}\n' >"$folder/service.yaml"
  config=$folder/service.yaml
fi
count=$#
while [ "$count" -gt 0 ]; do
  set -- "$@" --file "$1"
  shift
  count=$((count - 1))
done
"$root/customshouse" scan --quiet --config "$config" "$@"
