# shellcheck shell=sh
# Sourced by `service` with $root and $node set. Runs the hook that was built, and builds it where a source is newer. A
# host takes most exit codes for a yes: whatever goes wrong here ends with 2, which all of them take for a no.
# shellcheck disable=SC2154 # The one who sources this sets them.
cache=$root/node_modules/.cache/service-hook
is_stale=
hook=
inputs=
# shellcheck source=/dev/null
[ -f "$cache/built.sh" ] && . "$cache/built.sh"
IFS='
'
# shellcheck disable=SC3013
for input in $inputs; do
  if [ "$root/$input" -nt "$cache/built.sh" ] || ! [ -f "$root/$input" ]; then
    is_stale=1
    break
  fi
done
unset IFS
if [ -n "$is_stale" ] || ! [ -f "$cache/$hook/entry/hook/main.cjs" ]; then
  (cd "$root" && exec "$node" scripts/hook/main.ts) </dev/null >&2 || {
    echo 'The hook could not be built, so it is refused.' >&2
    exit 2
  }
  . "$cache/built.sh"
fi
"$node" "$cache/$hook/entry/hook/main.cjs" "$@"
code=$?
case $code in
  0 | 2) exit "$code" ;;
  1) case " $* " in *' --exit-code '*) exit 1 ;; esac ;;
esac
echo "The hook ended without a decision ($code), so it is refused." >&2
exit 2
