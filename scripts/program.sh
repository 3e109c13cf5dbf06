# shellcheck shell=sh
# Sourced by `service` with $root and $node set. Leaves $main, the file to run: the built program, which is built if a
# source is newer or gone, or the sources if it cannot be built, so that they say what is wrong.
# shellcheck disable=SC2154 # The one who sources this sets them.
cache=$root/node_modules/.cache/service-program
here=$(cd "$root" && pwd -P)
is_stale=
program=
built_for=
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
main=$cache/$program/entry/cli/main.mjs
# The bundle names files of the checkout by their paths.
if [ -n "$is_stale" ] || [ "$built_for" != "$here" ] || ! [ -f "$main" ]; then
  main=$root/src/entry/cli/main.ts
  if [ -w "$root/node_modules" ] && (cd "$root" && exec "$node" scripts/program/main.ts) </dev/null >/dev/null 2>&1; then
    . "$cache/built.sh"
    main=$cache/$program/entry/cli/main.mjs
  fi
fi
