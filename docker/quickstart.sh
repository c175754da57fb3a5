#!/bin/bash
# A small shop with order-timeoutd, from an empty machine: installs what is missing, builds, starts a private
# PostgreSQL, a private Redis, a stock service and the daemon, and lets a sample shop place and pay orders, until Ctrl-C
# or for --seconds N (counted from when the daemon is ready). Exit code 1: the shop's books do not balance, or something
# failed. Servers listen on sockets and free ports in one temporary folder, which is removed at the end.
set -euo pipefail

# A script's background job is started with SIGINT ignored, which a shell cannot undo for itself.
if [[ $(trap -p INT) == *"''"* ]]; then exec env --default-signal=INT "${BASH_SOURCE[0]}" "$@"; fi

usage() {
  echo "usage: docker/quickstart.sh [--seconds N]" >&2
  exit 64
}

seconds=
while (($# > 0)); do
  case $1 in
    --seconds) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage; seconds=$2; shift 2 ;;
    *) usage ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=docker/packages.sh
source "$root/docker/packages.sh"

# In /tmp and not in TMPDIR: a socket's path has to be short.
work=$(mktemp -d /tmp/order-timeout.XXXXXX)
chmod 711 "$work"  # PostgreSQL runs as another user when we are root

declare -A children=()      # name -> process id
# What ends a child; TERM where nothing is said. INT is the fast shutdown of PostgreSQL; a shop that still runs when we
# end has lost what it needs.
declare -A stop_signal=([postgres]=INT [shop]=KILL)
step_number=0
interrupted=0

step() {
  step_number=$((step_number + 1))
  printf '%s  %d. %s\n' "$(date +%H:%M:%S)" "$step_number" "$1"
}

fail() {
  echo "quick start: $1" >&2
  exit 1
}

# Starts a child in a session of its own, so that Ctrl-C reaches us alone; it is ended even if we are killed.
start() {
  local name=$1
  shift
  setsid setpriv --pdeathsig "${stop_signal[$name]:-TERM}" -- "$@" </dev/null >"$work/$name.log" 2>&1 &
  children[$name]=$!
}

# To the whole group: a build has children.
signal_child() { kill -s "$1" -- "-$2" 2>/dev/null || kill -s "$1" "$2" 2>/dev/null || true; }

# Ends a child and waits for it, 12 s at most; then it is killed.
stop() {
  local name=$1 pid=${children[$1]:-}
  [[ -n $pid ]] || return 0
  unset "children[$name]"
  signal_child "${stop_signal[$name]:-TERM}" "$pid"
  timeout 12 tail --pid="$pid" -s 0.05 -f /dev/null || signal_child KILL "$pid"
  wait "$pid" 2>/dev/null
}

show_logs() {
  local log
  for log in "$work"/*.log "$work"/log/order-timeoutd.log; do
    [[ -s $log ]] || continue
    echo "--- ${log#"$work"/}" >&2
    tail -n 15 "$log" >&2
  done
}

finish() {
  local status=$? name
  trap '' INT TERM HUP
  if ((status != 0 && !interrupted)); then show_logs; fi
  # The daemon before the servers that it needs.
  for name in build shop daemon stock-service redis postgres; do stop "$name" 2>/dev/null || true; done
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
trap 'interrupted=1; exit 130' INT TERM HUP

must_be_alive() {
  local name=$1 pid=${children[$1]} status=0
  if kill -0 "$pid" 2>/dev/null; then return; fi
  wait "$pid" || status=$?
  unset "children[$name]"
  fail "$name ended unexpectedly with exit code $status"
}

# Repeats a command until it succeeds; fails when the child $1 ends first or after $2 seconds.
await() {
  local name=$1 until=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    must_be_alive "$name"
    ((SECONDS < until)) || fail "$name is not ready: gave up waiting for: $*"
    sleep 0.05
  done
}

as_postgres() {
  if ((EUID == 0)); then
    setpriv --reuid postgres --regid postgres --init-groups -- "$@"
  else
    "$@"
  fi
}

start_postgres() {
  mkdir -m 700 "$work/pg"
  if ((EUID == 0)); then chown postgres: "$work/pg"; fi
  cd "$work"  # a folder that user postgres may be in
  as_postgres "$postgres_bin/initdb" -D "$work/pg/db" -U postgres -A trust -E UTF8 --no-locale --no-sync \
    >"$work/initdb.log" 2>&1 || fail "initdb failed"
  rm "$work/initdb.log"
  local become=()
  if ((EUID == 0)); then become=(setpriv --reuid postgres --regid postgres --init-groups --); fi
  # With commit timestamps the shop can tell when an order was closed to the millisecond.
  start postgres "${become[@]}" "$postgres_bin/postgres" -D "$work/pg/db" -k "$work/pg" \
    -c listen_addresses= -c track_commit_timestamp=on -c max_connections=60
  await postgres 60 psql -h "$work/pg" -U postgres -d postgres -c 'select 1'
  psql -q -h "$work/pg" -U postgres -d postgres -c 'create database shop'
  psql -q -h "$work/pg" -U postgres -d shop -v ON_ERROR_STOP=1 <"$root/sql/sample/shop.sql"
}

start_redis() {
  redis_program "$work"
  start redis env "PATH=$work:$PATH" redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" \
    --save '' --appendonly no --maxmemory-policy noeviction --loglevel warning
  await redis 30 redis-cli -s "$work/redis.sock" ping
}

start_stock_service() {
  start stock-service "$programs/tests/stock-service" --database "$(url postgres)" --listen 127.0.0.1:0
  await stock-service 30 grep -q '^listening on' "$work/stock-service.log"
  stock_address=$(sed -n 's/^listening on //p' "$work/stock-service.log")
}

# The shop's database for a role.
url() { printf 'postgresql:///shop?host=%s&user=%s' "$work/pg" "$1"; }

write_config() {
  cat >"$work/order-timeoutd.yaml" <<YAML
database:
  url: $(url order_timeout_daemon)

order_table:
  name: public.t_order
  columns: {paid_at: paid_at}
  items: {table: public.t_order_item, order_id: order_id, columns: [sku_id, qty]}
  payments:
    {table: public.t_payment, id: payment_id, order_id: order_id, status: status, amount: amount_cents,
     created_at: created_at, paid: [SUCCESS], in_progress: [PAYING]}

business_lines:
  default:    {timeout: 5s, grace: 1s, action: close, on_close: [release_stock]}
  flash_sale: {timeout: 3s}
  normal:     {timeout: 5s}
  presale:    {timeout: 7s}

redis:
  url: unix://$work/redis.sock

events:
  release_stock: {sink: http, url: "http://$stock_address/stock/release"}

admin: {listen: "127.0.0.1:0", socket: $work/control.sock}
log: {directory: $work/log}
snapshot: $work/last-good.yaml
YAML
}

# The daemon's answer to GET $1 is 200.
admin_says_ok() {
  local answer
  exec 3<>"/dev/tcp/127.0.0.1/$admin_port" || return
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
  read -r answer <&3 || true
  exec 3>&-
  [[ $answer == *' 200 '* ]]
}

start_daemon() {
  mkdir "$work/log"
  start daemon "$programs/src/order-timeoutd" --config "$work/order-timeoutd.yaml"
  await daemon 60 grep -q ' listening port=' "$work/log/order-timeoutd.log"
  admin_port=$(sed -n 's/.* listening port=\([0-9]*\).*/\1/p' "$work/log/order-timeoutd.log" | head -n 1)
  await daemon 120 admin_says_ok /readyz
}

# The shop runs until it is done, or told to be; a child that ends before it fails the run.
run_shop() {
  local arguments=(--database "$(url postgres)" --redis "unix://$work/redis.sock" --grace 1
    --timeout flash_sale=3 --timeout normal=5 --timeout presale=7)
  if [[ -n $seconds ]]; then arguments+=(--seconds "$seconds"); fi
  setsid setpriv --pdeathsig TERM -- "$programs/tests/shop" "${arguments[@]}" </dev/null &
  children[shop]=$!
  # The first Ctrl-C closes the shop's doors, a second one ends it at once.
  local doors_closed=0 status=0 name
  trap 'interrupted=$doors_closed; doors_closed=1; signal_child INT "${children[shop]}"' INT TERM HUP
  while kill -0 "${children[shop]}" 2>/dev/null; do
    for name in "${!children[@]}"; do
      if [[ $name != shop ]]; then must_be_alive "$name"; fi
    done
    sleep 0.2
  done
  trap 'interrupted=1; exit 130' INT TERM HUP
  wait "${children[shop]}" || status=$?
  unset "children[shop]"
  return "$status"
}

# In the background, so that a signal is answered at once; in a group of its own, so that it can be ended whole.
build() {
  set -m
  build_preset release order-timeoutd order-timeoutctl stock-service shop &
  children[build]=$!
  set +m
  wait "${children[build]}" || fail "the build failed"
  unset "children[build]"
}

step "packages"
packages_require "$work" "${packages_build[@]}" "${packages_servers[@]}"

step "build (the first one takes minutes)"
build
programs=$root/build/release

step "PostgreSQL and Redis of our own, in $work"
start_postgres
start_redis

step "stock service"
start_stock_service

step "order-timeoutctl migrate, as the database's owner"
write_config
"$programs/src/order-timeoutctl" --config "$work/order-timeoutd.yaml" migrate --url "$(url postgres)" \
  >"$work/migrate.log" 2>&1 || fail "migrate failed"

step "order-timeoutd, as role order_timeout_daemon"
start_daemon
echo "   ready; metrics: http://127.0.0.1:$admin_port/metrics   log: $work/log/order-timeoutd.log"

if [[ -n $seconds ]]; then
  step "the shop is open for $seconds s"
else
  step "the shop is open; Ctrl-C closes it"
fi
balanced=0
run_shop || balanced=$?
stop daemon || fail "order-timeoutd did not stop cleanly"
exit "$balanced"
