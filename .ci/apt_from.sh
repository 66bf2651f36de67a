# Sourced by scripts that take packages or sources from a suite of Debian which need not be this
# machine's.

# apt_from LISTS SUITE COMMAND...: apt-get, which asks Debian's SUITE alone, knows nothing that is
# installed, and keeps what it knows in the folder LISTS: the machine's own lists stay as they are.
apt_from() {
  local lists=$1/$2 suite=$2 kind
  shift 2
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg
  local apt=(apt-get --quiet --quiet -o Dir::Etc::SourceList="$lists/sources"
    -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$lists/lists"
    -o Dir::Cache="$lists/cache" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root
    -o Acquire::Retries=3)
  if [[ ! -e $lists/sources ]]; then
    mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
    for kind in deb deb-src; do
      echo "$kind [signed-by=$keys] ${FEEDLINE_MIRROR:-http://deb.debian.org/debian} $suite main"
    done >"$lists/sources"
    "${apt[@]}" update
  fi
  "${apt[@]}" "$@"
}
