#!/usr/bin/env bash
# links_test.sh SOURCE: what documents link is there, headings included, and so is each document
# that a comment names.
set -euo pipefail
export LC_ALL=C
cd "$1"

mapfile -t pages < <(find ./*.md docs src tests data samples -name '*.md' | sort)

# Two passes over the pages: the anchors of headings, as GitHub makes them; then the links.
links=$(awk '
  FNR == 1 { code = 0; file = FILENAME; sub(/^\.\//, "", file) }
  /^ *```/ { code = !code; next }
  code { next }
  pass == 1 {
    if (!/^#+ /) next
    anchor = $0
    sub(/^#+ /, "", anchor)
    anchor = tolower(anchor)
    gsub(/[^a-z0-9 _\200-\377-]/, "", anchor)
    gsub(/ /, "-", anchor)
    anchors[file "#" anchor] = 1
    next
  }
  {
    folder = file
    if (!sub(/[^\/]*$/, "", folder)) folder = ""
    rest = $0
    gsub(/`[^`]*`/, "", rest)
    while (match(rest, /\]\([^) ]+\)|^\[[^]]+\]: [^ ]+/)) {
      target = substr(rest, RSTART, RLENGTH)
      rest = substr(rest, RSTART + RLENGTH)
      sub(/^\]\(/, "", target); sub(/\)$/, "", target); sub(/^\[[^]]+\]: /, "", target)
      if (target ~ /^[a-z]+:/) continue
      path = target; anchor = ""
      if (match(path, /#/)) {
        anchor = substr(path, RSTART + 1)
        path = substr(path, 1, RSTART - 1)
      }
      path = path == "" ? file : folder path
      while (sub(/[^\/]+\/\.\.\//, "", path)) { }
      known = anchor == "" || path !~ /\.md$/ || (path "#" anchor) in anchors
      print file, path, known ? "-" : anchor
    }
  }' pass=1 "${pages[@]}" pass=2 "${pages[@]}")

faults=
count=0
while read -r file path anchor; do
  count=$((count + 1))
  if [[ ! -e $path ]]; then
    faults+="$file links $path, which is not there"$'\n'
  elif [[ $anchor != - ]]; then
    faults+="$file links $path#$anchor, which has no such heading"$'\n'
  fi
done <<<"$links"
if ((count < 200)); then
  echo "FAILED: only $count links found: this test misreads the documents" >&2
  exit 1
fi

while IFS=: read -r file name; do
  if ! compgen -G "$name*" >/dev/null; then faults+="$file names $name, which is not there"$'\n'; fi
done < <(grep -rnoE '\bdocs/([a-z0-9/_-]+\.md|decisions/[0-9]{4})' include src tests samples .ci \
  --include='*.[hc]pp' --include='*.cuh' --include='*.cu' --include='*.cmake' --include='*.sh' \
  --include='*.py' --include=CMakeLists.txt | sed -E 's/:[0-9]+:/:/')

if [[ -n $faults ]]; then
  printf '%s' "$faults" >&2
  echo "FAILED: links that lead nowhere" >&2
  exit 1
fi
echo "$count links of ${#pages[@]} documents lead somewhere"
