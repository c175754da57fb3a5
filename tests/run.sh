#!/bin/bash
# Installs what is missing, builds and runs the tests against servers of their own, then the quick start for a moment.
# The last line is "N passed, N failed"; the exit code is 0 only if nothing failed. --full adds the sanitizers,
# clang-tidy and the great payment race.
set -euo pipefail

usage() {
  echo "usage: tests/run.sh [--full]" >&2
  exit 64
}

full=0
while (($# > 0)); do
  case $1 in
    --full) full=1; shift ;;
    *) usage ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=docker/packages.sh
source "$root/docker/packages.sh"

work=$(mktemp -d /tmp/order-timeout-tests.XXXXXX)
chmod 711 "$work"  # PostgreSQL runs as another user when we are root
beside_pids=()
# What runs beside us is in groups of their own: they go when we go, however that is.
finish() {
  local pid
  for pid in "${beside_pids[@]}"; do kill -TERM -- "-$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

passed=0
failed=0
failures=()

step() { printf '\n%s  %s\n' "$(date +%H:%M:%S)" "$1"; }

pass() { passed=$((passed + 1)); }

fail() {
  failed=$((failed + 1))
  failures+=("$1")
}

# A check that is one program: its output is shown only if it fails.
check() {
  local name=$1
  shift
  if "$@" >"$work/check.log" 2>&1; then
    pass
  else
    cat "$work/check.log"
    fail "$name"
  fi
}

# Adds the test cases of one program, which ended with exit code $3, from its report $2.
count() {
  local name=$1 report=$2 status=$3 cases bad
  if [[ ! -s $report ]]; then
    fail "$name: ended without a report (crashed or timed out)"
    return
  fi
  cases=$(grep -c '<testcase ' "$report") || true
  # A case that was skipped or is switched off has not passed.
  bad=$(grep -cE '<failure |<testcase .* result="(skipped|suppressed)"' <(cases_in_one_line "$report")) || true
  passed=$((passed + cases - bad))
  failed=$((failed + bad))
  if ((bad > 0)); then failures+=("$name: $bad of $cases"); fi
  if ((bad == 0 && status != 0)); then fail "$name: all cases passed, exit code not 0"; fi
}

# However many failures a case has, it is one case.
cases_in_one_line() { tr '\n' ' ' <"$1" | sed 's/<testcase /\n<testcase /g'; }

# Runs one test program, or share $4 of $5 of it; its output, report and exit code go to the folder $3.
run_program() {
  local preset=$1 name=$2 reports=$3 status=0
  mkdir -p "$reports"
  (cd "$root" && GTEST_OUTPUT="xml:$reports/" GTEST_SHARD_INDEX=${4:-0} GTEST_TOTAL_SHARDS=${5:-1} \
    ctest --preset "$preset" -R "^$name\$") >"$reports/$name.log" 2>&1 || status=$?
  echo "$status" >"$reports/$name.status"
}

report_program() {
  local preset=$1 name=$2 reports=$3 status
  status=$(cat "$reports/$name.status" 2>/dev/null || echo 1)
  if ((status != 0)); then cat "$reports/$name.log"; else grep ' Test  *#.*Passed' "$reports/$name.log" || true; fi
  count "$preset $name" "$reports/$name.xml" "$status"
}

# All test programs of a preset but those named. The daemon's mostly wait: they run in two halves beside the others.
run_programs() {
  local preset=$1 excluded=$2 names name half reports="$work/reports-$1" beside=integration_daemon
  mapfile -t names < <(cd "$root" && ctest --preset "$preset" -N | sed -n 's/^ *Test *#[0-9]*: //p' |
    grep -vxE "$excluded|$beside" | sort -t_ -k1,1r)
  if ((${#names[@]} == 0)); then fail "$preset: no test programs"; fi
  set -m
  for half in 0 1; do
    run_program "$preset" "$beside" "$reports-$half" "$half" 2 &
    beside_pids+=($!)
  done
  set +m
  for name in "${names[@]}"; do
    run_program "$preset" "$name" "$reports"
    report_program "$preset" "$name" "$reports"
  done
  wait "${beside_pids[@]}" || true
  beside_pids=()
  for half in 0 1; do report_program "$preset" "$beside" "$reports-$half"; done
}

build() {
  if ! build_preset "$1"; then
    fail "build of preset $1"
    summary
  fi
}

summary() {
  local line
  echo
  for line in "${failures[@]}"; do echo "FAILED: $line"; done
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0)) || exit 1
  exit 0
}

step "packages"
wanted=("${packages_build[@]}" "${packages_servers[@]}" "${packages_tests[@]}")
if ((full)); then wanted+=("${packages_full[@]}"); fi
packages_require "$work" "${wanted[@]}"
redis_program "$work"
export PATH=$work:$PATH

step "build, preset release"
build release

step "tests, preset release"
run_programs release none

step "quick start, 20 s"
check "quick start" "$root/docker/quickstart.sh" --seconds 20

if ((full)); then
  step "payments around the deadline: 500 clients, 50,000 orders"
  check "payment storm" env ORDER_TIMEOUT_FULL=1 "$root/build/release/tests/integration_daemon" \
    --gtest_filter='*PaymentStorm*'
  for preset in asan tsan; do
    step "build, preset $preset"
    build "$preset"
    step "tests, preset $preset"
    run_programs "$preset" tidy
  done
  step "clang-tidy"
  check "clang-tidy" run-clang-tidy-16 -quiet -p "$root/build/release" "^$root/src/"
fi

summary
