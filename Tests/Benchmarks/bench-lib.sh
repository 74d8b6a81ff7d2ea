# Shared by the measurements of this folder: their options, the command that is measured, medians and targets.
# shellcheck shell=bash
#
#   read_options "$@"            --rounds N and --strict, into `rounds` and `strict`
#   need COMMAND…                ends with status 2 where one is missing
#   build_reprise                the command for release, or what REPRISE names, into `reprise`
#   build_program NAME…          programs of Tests/Benchmarks/programs for release, into $programs
#   make_once FILE MAKER ARGUMENT…
#                                what a script of this folder makes, once, and again when that has changed; what it
#                                says of it is in FILE.json
#   median NAME COLUMN           of the lines in $results/NAME
#   quotient NAME OTHER          of the medians of their first columns
#   target WHAT VALUE COMPARISON WANTED UNIT
#   conclude                     status 1 where --strict was given and a target missed

set -euo pipefail
export LC_ALL=C

measurement=$(basename "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck disable=SC2034 # these are for the measurements
readonly measurement folder=.build/bench programs=.build/bench-programs/swift/release
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
rounds=5
strict=
missed=0

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --rounds) rounds=${2:?--rounds takes a number} && shift 2 ;;
      --strict) strict=--strict && shift ;;
      *) echo "usage: $measurement [--rounds N] [--strict]" >&2 && exit 2 ;;
    esac
  done
}

need() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || {
      echo "$measurement: $command is missing; 'make setup' installs it" >&2
      exit 2
    }
  done
}

build_reprise() {
  # shellcheck disable=SC2034 # this is for the measurements
  reprise=${REPRISE:-.build/release/reprise}
  [ -z "${REPRISE:-}" ] || return 0
  echo "Building reprise for release" >&2
  make --no-print-directory build >&2
}

build_program() {
  local product
  for product in "$@"; do
    echo "Building $product for release" >&2
    swift build -c release --product "$product" --package-path Tests/Benchmarks/programs \
      --scratch-path .build/bench-programs/swift >&2
  done
}

make_once() {
  local file=$1 maker=Tests/Benchmarks/$2
  [ -s "$file" ] && [ -e "$file.json" ] && [ "$file" -nt "$maker" ] && return
  echo "Making $file" >&2
  mkdir -p "$folder"
  python3 "$maker" "${@:3}" "$file.part" >"$results/made.json"
  mv "$results/made.json" "$file.json"
  mv "$file.part" "$file"
}

median() {
  sort -g -k"$2,$2" "$results/$1" | awk -v c="$2" '{ v[NR] = $c }
    END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

quotient() { awk -v a="$(median "$1" 1)" -v b="$(median "$2" 1)" 'BEGIN { print a / b }'; }

target() {
  local verdict=met
  awk -v v="$2" -v w="$4" "BEGIN { exit !(v $3 w) }" || { verdict=MISSED && missed=$((missed + 1)); }
  printf '%-48s %12.2f %-11s %2s %8s   %s\n' "$1" "$2" "$5" "$3" "$4" "$verdict"
}

conclude() { [ -z "$strict" ] || [ "$missed" -eq 0 ]; }
