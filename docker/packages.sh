# shellcheck shell=bash disable=SC2034,SC2154
# The one list of Debian packages that this repository is built, shown and tested with, and how to get those that are
# missing. To be sourced by bash; needs $root, the checkout.

packages_build=(
  build-essential cmake ninja-build pkg-config
  libboost1.81-dev libboost-json1.81-dev libpqxx-dev libpq-dev libhiredis-dev libyaml-cpp-dev
  prometheus-cpp-dev libcli11-dev libhowardhinnant-date-dev libsystemd-dev
  libgtest-dev libgmock-dev
)
# redis-tools holds the whole of redis-server but its name: the package redis-server would start a server on the usual
# port, and again at every boot.
packages_servers=(postgresql-15 redis-tools tzdata)
packages_tests=(systemd)  # systemd-analyze
packages_full=(clang-16 libclang-rt-16-dev clang-tidy-16)

# The servers we start: their programs, and our own name for Redis (see redis_program).
postgres_bin=/usr/lib/postgresql/15/bin

packages_missing() {
  local name status
  local -A installed=()
  while read -r name status; do
    if [[ $status == installed ]]; then installed[$name]=1; fi
  done < <(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null)
  for name in "$@"; do
    if [[ -z ${installed[$name]:-} ]]; then printf '%s\n' "$name"; fi
  done
}

# Debian's package scripts make a PostgreSQL cluster on port 5432 and start services. Ours are private, so dpkg's PATH
# begins with a folder, $1, in which the programs that would do it do nothing: nothing outside the temporary folder is
# changed for that, and no server that runs already is restarted. --no-remove: rather fail than take a package away.
packages_install() {
  local quiet=$1 become=() name
  shift
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "these packages are missing; install them as root, or install sudo: $*" >&2
      return 1
    fi
    become=(sudo)
  fi
  mkdir -p "$quiet"
  for name in pg_createcluster invoke-rc.d deb-systemd-invoke; do ln -sf /bin/true "$quiet/$name"; done
  "${become[@]}" apt-get -q update || return
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends --no-remove \
    -o "DPkg::Path=$quiet:/usr/sbin:/usr/bin:/sbin:/bin" install "$@"
}

# Installs those of the packages that are missing; needs no rights when none is. $1: a temporary folder.
packages_require() {
  local folder=$1 missing
  shift
  mapfile -t missing < <(packages_missing "$@")
  if ((${#missing[@]} == 0)); then return 0; fi
  echo "   installing ${#missing[@]} packages: ${missing[*]}"
  if ! packages_install "$folder/no-services" "${missing[@]}" </dev/null >"$folder/apt.log" 2>&1; then
    tail -n 30 "$folder/apt.log" >&2
    return 1
  fi
}

# A redis-server in the folder $1, to be put into PATH: the package's own where there is one.
redis_program() {
  if ! command -v redis-server >/dev/null; then ln -sf "$(command -v redis-check-rdb)" "$1/redis-server"; fi
}

# Configures and builds the preset $1 of the checkout; the rest are the targets (none: all).
build_preset() {
  local preset=$1 cache="$root/build/$1/CMakeCache.txt" fresh=() targets=()
  shift
  (($# > 0)) && targets=(--target "$@")
  # A checkout that was copied together with its build folder: the cache still names the old place.
  if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then fresh=(--fresh); fi
  local launcher=''
  if command -v ccache >/dev/null; then launcher=ccache; fi
  mkdir -p "$root/build"
  (
    cd "$root" || exit
    export CCACHE_SLOPPINESS=pch_defines,time_macros  # what ccache asks for where headers are precompiled
    cmake --preset "$preset" "${fresh[@]}" "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher" >"$root/build/$preset.log" 2>&1 || {
      cat "$root/build/$preset.log" >&2
      exit 1
    }
    cmake --build --preset "$preset" "${targets[@]}"
  )
}
