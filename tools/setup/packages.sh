#!/bin/sh
# packages.sh GROUP…: installs the Debian packages of the groups that are not there yet; says nothing when all are.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Everything comes from the distribution's own archive, LLVM and MLIR 22 included. Off Debian it only names what it wants.
set -eu

build="cmake ninja-build ccache git ca-certificates python3 python3-pip
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22 libclang-rt-22-dev libc6-dev libstdc++-12-dev
  libfmt-dev libjansson-dev libutf8proc-dev libpcre2-dev libcli11-dev"
test="libgtest-dev gcc binutils" # configuring needs these as well
bench="python3-venv"
format="clang-format-22 clang-tidy-22"

wanted=""
for group in "$@"; do
  case "$group" in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    bench) wanted="$wanted $bench" ;;
    format) wanted="$wanted $format" ;;
    *) echo "packages.sh: no group \`$group\`" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  echo "packages.sh: this is not Debian; going on without installing. Needed are:" $wanted >&2
  exit 0
fi

missing=""
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

root=""
[ "$(id -u)" = 0 ] || root="sudo"
echo "installing:$missing" >&2
$root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
