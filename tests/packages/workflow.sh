#!/usr/bin/env bash
# workflow.sh WORK: does what the workflow of samples/outside_project does, step by step, with this
# tree instead of a repository of feedline's. Its actions are not run: they check out and cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p "$1"
work=$(readlink -f "$1")
. tests/packages/page.sh
version=$feedline_version
if ! command -v git >/dev/null; then apt-get -qq update && apt-get -qq install --yes git; fi

rm -rf "${work:?}"/{repository,home,project}
mkdir -p "$work"/{repository,home}
cp -a CMakeLists.txt CMakePresets.json CHANGELOG.md LICENSE include src "$work/repository"
cp -a samples/outside_project "$work/project"
git -C "$work/repository" init --quiet
git -C "$work/repository" add --all
git -C "$work/repository" -c user.name=test -c user.email=test@feedline.example \
  commit --quiet --message "As it is"
git -C "$work/repository" tag "v$version"

cd "$work/project"
workflow=.github/workflows/test.yml
grep -q "FEEDLINE_VERSION: v$version\$" $workflow ||
  { echo "workflow.sh: the workflow asks for another version than $version" >&2; exit 1; }
export HOME=$work/home FEEDLINE_REPOSITORY=file://$work/repository FEEDLINE_VERSION=v$version
sudo() { DEBIAN_FRONTEND=noninteractive "$@"; }
if ((EUID == 0)); then export -f sudo; fi
steps=$(grep -c ' run: |' $workflow)
for ((step = 1; step <= steps; ++step)); do
  commands=$(awk -v step="$step" '/^ *run: \|/ { ++n; inside = 1; next }
    inside && !/^          / { inside = 0 }
    inside && n == step' $workflow)
  echo "--- step $step"
  bash --noprofile --norc -exo pipefail -c "$commands"
done
echo "workflow.sh: $steps steps passed"
