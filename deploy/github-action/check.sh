#!/usr/bin/env bash
# The step of the action; its inputs are variables. See action.yml.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
config=${INPUT_CONFIG:-}
status=0

if [ "${INPUT_VALIDATE:-true}" = true ] && [ -n "$config" ]; then
  "$root/customshouse" validate "$config" || status=1
fi

patterns=()
while IFS= read -r pattern; do
  if [ -n "$pattern" ]; then patterns+=("$pattern"); fi
done <<<"${INPUT_FILES:-}"
if [ "${#patterns[@]}" -gt 0 ]; then
  list=$(mktemp)
  trap 'rm -f "$list"' EXIT
  # Files of the repository that are text and not empty.
  git grep -I --name-only -z -e '' -- "${patterns[@]}" >"$list" || {
    echo "::error::No text file of the repository matches the input \`files\`."
    exit 1
  }
  xargs -0 -n 500 "$root/deploy/scan-files.sh" ${config:+--config "$config"} <"$list" || status=1
fi

[ "$status" = 0 ] || echo "::error::Customshouse refuses a file or the configuration; the log above names it."
exit "$status"
