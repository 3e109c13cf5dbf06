# shellcheck shell=sh
# Sourced with $root set, and $packages: `--dev` if the packages of development are needed, else empty. Leaves $node, the
# Node to run, and the compile cache's place in the environment.
# Starts nothing when the checkout is ready: set-up wrote down which Node to use.
# shellcheck disable=SC2154 # The one who sources this sets them.
stamp=$root/node_modules/.service-node${packages#-}
node=
# shellcheck disable=SC3013 # `-nt` is in POSIX since 2024, and in every sh that is met.
if [ -f "$stamp" ] && ! [ "$root/package-lock.json" -nt "$stamp" ] && ! [ "$root/scripts/node/package-lock.json" -nt "$stamp" ]; then
  IFS= read -r node <"$stamp" || node=
  case $node in
    '' | /*) ;;
    *) node=$root/$node ;;
  esac
fi
if ! [ -x "$node" ]; then
  if ! command -v node >/dev/null 2>&1; then
    echo 'error: there is no Node on this machine. Install Node 20 or later with npm: https://nodejs.org' >&2
    exit 2
  fi
  node "$root/scripts/setup.mjs" ${packages:+"$packages"} </dev/null >&2 || exit 2
  IFS= read -r node <"$stamp"
  case $node in
    /*) ;;
    *) node=$root/$node ;;
  esac
fi
NODE_COMPILE_CACHE=${NODE_COMPILE_CACHE-$root/node_modules/.cache/compile}
export NODE_COMPILE_CACHE
